export const id = 770;
export const ids = [770,389];
export const modules = {

/***/ 7631:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ maxPullRequests)
/* harmony export */ });
/** How many pull requests a session remembers. */
const maxPullRequests = 20;


/***/ }),

/***/ 3389:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   parseSessionEntry: () => (/* binding */ parseSessionEntry),
/* harmony export */   parseWordEntry: () => (/* binding */ parseWordEntry)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3305);
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6078);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(7631);



const jobId = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .refine */ .YPB(_client_contract_js__WEBPACK_IMPORTED_MODULE_1__/* .isUsableJobId */ .Xb));
const commit = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._regex */ .Fk(/^[0-9a-f]{40,64}$/));
const sent = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["enum"] */ .k5n(["create", "message"]);
const wordEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    attempt: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(),
    sent,
    jobId: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(jobId),
    base: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    announced: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()),
});
const sessionEntry = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    version: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .literal */ .euz(1),
    jobId,
    run: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    step: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    attempt: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(),
    kind: sent,
    commit: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    sent: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(commit),
    failures: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._nonnegative */ .UI()),
    pullRequests: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._positive */ .NC())).check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._maxLength */ .Eb(_entry_js__WEBPACK_IMPORTED_MODULE_3__/* .maxPullRequests */ .S)),
});
/** Parses the word of an attempt; `undefined` if it is unusable. Anyone who can write the cache may have written it. */
function parseWordEntry(text) {
    return wordEntry.safeParse(parseJson(text)).data;
}
/** Parses the entry of a session; `undefined` if it is unusable. Anyone who can write the cache may have written it. */
function parseSessionEntry(text) {
    return sessionEntry.safeParse(parseJson(text)).data;
}
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}


/***/ })

};
