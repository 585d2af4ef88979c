// Notes in a job's log that the step tells the author of a workflow, too.

/** Before what the agent said last, if it changed nothing. */
export const noChangeNote = "No file was changed.";

/** If an agent has no session of the earlier turns of its job. */
export const newSessionNote = "The session of the earlier turns is gone, so the agent begins a new one.";
