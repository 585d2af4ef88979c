export const id = 261;
export const ids = [261];
export const modules = {

/***/ 2261:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   h: () => (/* binding */ readingLimits),
/* harmony export */   repositoryOf: () => (/* binding */ repositoryOf)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8395);
/* harmony import */ var _commit_jobs_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(4959);
/* harmony import */ var _runner_github_error_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6376);



/** The limits of all requests to the repository, in milliseconds. */
const readingLimits = { timeoutMs: 20_000, totalMs: 120_000 };
/** How many pages of commits, tags or releases are read, with 100 items each. GitHub limits its own lists as well. */
const maxPages = 50;
/** How many of these pages with older commits are read to find a newer one below them. */
const maxOlderPages = 3;
/** GitHub lists this many files of a comparison. GitHub's documentation: "Compare two commits". */
const maxListedFiles = 300;
/** In UTF-16 units; only the beginning of a message is used. */
const maxMessageLength = 500;
const commit = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .pipe */ .FsL(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    sha: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(),
    parents: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ sha: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() })),
    commit: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ message: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() }),
}), zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .transform */ .pdi(({ sha, parents, commit: { message } }) => {
    const jobs = (0,_commit_jobs_js__WEBPACK_IMPORTED_MODULE_2__/* .jobsOf */ .a)(message);
    return { sha, parents: parents.map((parent) => parent.sha), message: message.slice(0, maxMessageLength), jobs };
}));
/** What GitHub shows as the patch of a submodule. */
const pointers = /^@@.*(?:\n[-+]Subproject commit [0-9a-f]{40,64})+\n?$/;
const file = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .pipe */ .FsL(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    filename: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(),
    previous_filename: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP()),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(),
    additions: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr(),
    deletions: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr(),
    patch: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP()),
}), zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .transform */ .pdi(({ filename: name, previous_filename: previousName, patch, ...counts }) => {
    return { name, previousName, patch, ...counts, isSubmodule: pointers.test(patch ?? "") };
}));
const comparison = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    status: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(),
    total_commits: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr(),
    commits: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(commit),
    files: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(file)),
});
const pullRequest = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    merged: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .boolean */ .zMY(),
    merge_commit_sha: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP()),
    base: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ sha: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() }),
    head: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ sha: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() }),
});
const inRepository = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ repo: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ id: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr() })) });
const origin = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ head: inRepository, base: inRepository });
const fileTree = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    truncated: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .boolean */ .zMY(),
    tree: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ path: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(), type: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() })),
});
const release = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ tag_name: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(), draft: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .boolean */ .zMY() });
const tag = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ name: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP() });
/** Returns whether GitHub says that it cannot make a comparison: for one that is too large, it always will. */
function isTooLarge(error) {
    if (!(error instanceof _runner_github_error_js__WEBPACK_IMPORTED_MODULE_0__/* .GitHubError */ .y))
        return false;
    return error.status === 500 || (error.status === 422 && error.message.includes("not_available"));
}
/** Returns the repository of the run, read through GitHub's API. Every method throws if GitHub cannot be asked. */
function repositoryOf(reader) {
    return {
        /** Compares the merge base of two commits with `head`. GitHub's documentation: "Compare two commits". */
        async compare(base, head) {
            const commits = [];
            const files = [];
            let status = "";
            let commitCount = 0;
            for (let page = 1; page <= maxPages; page++) {
                const parameters = { basehead: `${base}...${head}`, per_page: 100, page };
                const data = await reader.get("compare/{basehead}", comparison, parameters).catch((error) => {
                    if (page === 1 && isTooLarge(error))
                        return undefined;
                    throw error;
                });
                if (!data)
                    return { base, head, status, commitCount, commits, files, isTruncated: true, isUnlisted: true };
                // Only the first page has files.
                if (page === 1 && !data.files && data.total_commits > 0)
                    throw new Error("GitHub's response lists no files");
                files.push(...(page === 1 ? (data.files ?? []) : []));
                commits.push(...data.commits);
                status = data.status;
                commitCount = data.total_commits;
                if (commits.length >= commitCount || data.commits.length === 0)
                    break;
            }
            return { base, head, status, commitCount, commits, files, isTruncated: files.length >= maxListedFiles };
        },
        /**
         * Returns the first parent of `head`, a full id, after which all came that was merged since `time`. A commit keeps its date if it is
         * pushed later, so the walk continues past old dates while a newer commit is deeper. `root`: it is the first of all, and came in this time.
         */
        async commitBefore(head, time) {
            const known = new Map();
            const list = async (parameters) => {
                const commits = await reader.get("commits", zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(commit), { per_page: 100, ...parameters });
                for (const each of commits)
                    known.set(each.sha, each);
                return commits;
            };
            for (let page = 1; page <= maxPages; page++)
                if ((await list({ sha: head, since: time.toISOString(), page })).length < 100)
                    break;
            const newer = new Set(known.keys());
            /** Newer commits that are not below one which the walk has passed. */
            const left = new Set(newer);
            const pass = (sha) => {
                if (left.delete(sha))
                    known.get(sha)?.parents.forEach(pass);
            };
            let base = head;
            let root;
            let pages = 0;
            for (let sha = head; sha !== undefined && (left.size > 0 || newer.has(sha));) {
                if (!known.has(sha) && pages++ < maxOlderPages)
                    await list({ sha });
                const next = known.get(sha);
                if (newer.has(sha))
                    base = next?.parents[0] ?? sha;
                if (newer.has(sha) && base === sha)
                    root = next;
                pass(sha);
                sha = next?.parents[0];
            }
            return { base, root };
        },
        /** Returns the first 300 files of a commit. GitHub's documentation: "Get a commit". */
        async filesOf(ref) {
            return (await reader.get("commits/{ref}", zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({ files: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(file) }), { ref })).files;
        },
        /** Returns the paths of all files and submodules of a commit; `undefined` if there are too many. GitHub's documentation: "Get a tree". */
        async allPaths(ref) {
            const { truncated, tree } = await reader.get("git/trees/{ref}", fileTree, { ref, recursive: "1" });
            const of = (kind) => tree.filter(({ type }) => type === kind).map(({ path }) => path);
            return truncated ? undefined : { files: of("blob"), submodules: of("commit") };
        },
        /** Returns the tags of all releases but drafts. GitHub's documentation: "List releases". */
        async releaseTags() {
            const releases = await reader.list("releases", release);
            return releases.filter(({ draft }) => !draft).map(({ tag_name }) => tag_name);
        },
        /** Returns the names of all tags. GitHub's documentation: "List repository tags". */
        async tags() {
            return (await reader.list("tags", tag)).map(({ name }) => name);
        },
        /** Reads a pull request. GitHub's documentation: "Get a pull request". */
        async pullRequest(number) {
            const data = await reader.get("pulls/{pull_number}", pullRequest, { pull_number: number });
            const mergeCommit = data.merged ? (data.merge_commit_sha ?? undefined) : undefined;
            return { base: data.base.sha, head: data.head.sha, mergeCommit };
        },
        /**
         * Returns whether pull requests from forks brought a commit, where anyone can have written its message. GitHub's documentation: "List pull requests
         * associated with a commit".
         */
        async isFromFork(ref) {
            const pulls = await reader.get("commits/{ref}/pulls", zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(origin), { ref });
            return pulls.length > 0 && pulls.every(({ head, base }) => head.repo?.id !== base.repo?.id);
        },
        /** Returns the messages of a pull request's first 100 commits, oldest first. */
        async pullRequestMessages(number) {
            const parameters = { pull_number: number, per_page: 100 };
            const commits = await reader.get("pulls/{pull_number}/commits", zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(commit), parameters);
            return commits.map(({ message }) => message);
        },
    };
}


/***/ }),

/***/ 6376:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   y: () => (/* binding */ GitHubError)
/* harmony export */ });
/** Thrown when a request to GitHub fails. The message never contains the token. */
class GitHubError extends Error {
    /** The status of the last response; `undefined` if GitHub did not respond. */
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}


/***/ })

};
