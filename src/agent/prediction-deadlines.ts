/** Deadline of each unary call, such as opening a model: the agent's own limit is ten minutes. */
export const PREDICTION_CALL_DEADLINE_MS = 11 * 60_000;

/** Deadline of a stream, which may have thousands of inputs; the agent limits the time of each batch. */
export const PREDICTION_STREAM_DEADLINE_MS = 24 * 3600_000;
