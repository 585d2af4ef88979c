export const id = 669;
export const ids = [669];
export const modules = {

/***/ 8050:
/***/ ((module) => {

module.exports = eval("require")("kerberos");


/***/ })

};
