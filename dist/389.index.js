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
const wordEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    /** The job, and the kind of request; only in the state `job`. */
    jobId: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(jobId),
    sent: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(kind),
    /** Whether the agent was seen at work on the message, or to end. */
    wasSeen: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
    /** The job's pull request and its newest commit before the message. */
    before: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
        url: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .refine */ .YPB((url) => (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_3__/* .parsePullRequest */ .y)(url)?.url === url))),
        head: commit,
    })),
    /** The start of the attempt's range of changes. */
    base: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    /** The commit up to which the session is told of all changes if the attempt's turn completes. */
    covers: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    /** Whether the service had announced that it can be asked; `undefined` if it was not asked. */
    announced: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
});
const sessionEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    jobId,
    /** The workflow run that last sent something, the hash of its step and prompt, its attempt, and the kind of request. */
    run: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    step: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    attempt: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(),
    kind,
    /** The commit up to which completed turns were told of all changes. */
    commit: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    /** If the run's turn was not seen to end: the commit up to which it is told of all, if it is. */
    sent: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ covers: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit) })),
    /** Consecutive failed turns of the job. */
    failures: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._nonnegative */ .UI()),
    /** The session's last pull requests in this repository, oldest first. */
    pullRequests: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._positive */ .NC())),
});
/** Returns a parser that returns `undefined` for unusable entries. Anyone who can write the cache may have written them. */
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
