// The part of undici that `@actions/github` uses. The rest, such as WebSockets and mocks, is an eighth of the bundle.

require("whole-undici/lib/dispatcher/dispatcher").prototype.connect = require("whole-undici/lib/api/api-connect");

exports.ProxyAgent = require("whole-undici/lib/dispatcher/proxy-agent");
exports.fetch = require("whole-undici/lib/web/fetch").fetch;
