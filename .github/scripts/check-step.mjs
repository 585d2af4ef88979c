// Compares a step's outputs with what is expected. STEP is its entry in the `steps` context, as JSON. Each line of EXPECTED
// is `name: pattern`: a regular expression for the whole value of that output or, with the name `step`, for the step's
// outcome.
const { outputs, outcome } = JSON.parse(process.env.STEP ?? "");
const expected = (process.env.EXPECTED ?? "").trim().split("\n");

const values = { ...outputs, step: outcome };
const mismatches = expected.flatMap((line) => {
  const [, name = "", pattern = ""] = /^([a-z-]+): *(.*)$/.exec(line) ?? [];
  if (!Object.hasOwn(values, name)) return [`${line}: no such output`];
  return new RegExp(`^(?:${pattern})$`).test(values[name]) ? [] : [`${line}: got ${JSON.stringify(values[name])}`];
});

for (const mismatch of mismatches) console.error(mismatch);
if (mismatches.length > 0) process.exitCode = 1;
else console.log(`All ${expected.length} values are as expected`);
