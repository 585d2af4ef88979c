// Compares a step with what is expected of it. STEP is its entry in the steps context, as JSON. Each line of EXPECTED
// is `name: pattern`: a regular expression for the whole value of that output, or, as `step`, for how the step went.
const { outputs, outcome } = JSON.parse(process.env.STEP ?? "");
const expected = (process.env.EXPECTED ?? "").trim().split("\n");

const values = { ...outputs, step: outcome };
const faults = expected.flatMap((line) => {
  const [, name = "", pattern = ""] = /^([a-z-]+): *(.*)$/.exec(line) ?? [];
  if (!Object.hasOwn(values, name)) return [`${line}: there is no such output`];
  return new RegExp(`^(?:${pattern})$`).test(values[name]) ? [] : [`${line}: it is ${JSON.stringify(values[name])}`];
});

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`As expected: ${expected.length} values`);
