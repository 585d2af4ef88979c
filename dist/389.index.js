export const id = 389;
export const ids = [389];
export const modules = {

/***/ 3389:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   parseSessionEntry: () => (/* binding */ parseSessionEntry),
/* harmony export */   parseWordEntry: () => (/* binding */ parseWordEntry)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3305);
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6078);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8808);



const jobId = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .refine */ .YPB(_client_contract_js__WEBPACK_IMPORTED_MODULE_1__/* .isUsableJobId */ .Xb));
const commit = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._regex */ .Fk(/^[0-9a-f]{40,64}$/));
const kind = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["enum"] */ .k5n(["create", "message"]);
const pullRequestUrl = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .refine */ .YPB((url) => (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_3__/* .parsePullRequest */ .y)(url)?.url === url));
const wordEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    jobId: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(jobId),
    sent: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(kind),
    wasSeen: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    isDone: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    isUnproven: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    isUnchanged: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    pullRequest: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(pullRequestUrl),
    isDoubtful: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    before: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
        url: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(pullRequestUrl),
        head: commit,
    })),
    base: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    covers: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    announced: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
});
const sessionEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    jobId,
    run: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    step: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    attempt: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(),
    kind,
    commit: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    sent: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ covers: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit) })),
    failures: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._nonnegative */ .UI()),
    pullRequests: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._positive */ .NC())),
});
function parserOf(schema) {
    return (text) => {
        try {
            return schema.safeParse(JSON.parse(text)).data;
        }
        catch {
            return undefined;
        }
    };
}
const parseWordEntry = parserOf(wordEntry);
const parseSessionEntry = parserOf(sessionEntry);


/***/ })

};
