export const id = 832;
export const ids = [832];
export const modules = {

/***/ 9832:
/***/ ((__webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
__webpack_require__.r(__webpack_exports__);
/* harmony import */ var _actions_cache__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1416);

// A process of its own, which `run-cache-process.ts` starts with these arguments. It never outlives the action.
process.on("disconnect", () => process.exit());
const [operation = "", key = "", file = ""] = process.argv.slice(3);
/** What is saved on one operating system can be restored on another. */
const enableCrossOsArchive = true;
const operations = {
    restore: async () => (await (0,_actions_cache__WEBPACK_IMPORTED_MODULE_0__/* .restoreCache */ .P3)([file], key, [key], undefined, enableCrossOsArchive)) !== undefined,
    save: async () => (await (0,_actions_cache__WEBPACK_IMPORTED_MODULE_0__/* .saveCache */ .Io)([file], key, undefined, enableCrossOsArchive)) !== -1,
};
function send(reply) {
    const exit = () => process.exit();
    process.send?.(reply, undefined, undefined, () => process.stdout.write("", exit));
}
try {
    send({ isDone: await operations[operation]() });
}
catch (error) {
    send({ error: error instanceof Error ? error.message : String(error) });
}

__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ })

};
