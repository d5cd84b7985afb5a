// How long a caller waits for an agent that predicts: a client of the agent, and a server that passes calls on.

/** Of each unary call, as of opening a model: the agent's own limit is ten minutes. */
export const PREDICTION_CALL_DEADLINE_MS = 11 * 60_000;

/** Of a stream, which may be of thousands of inputs; the agent limits the time of each batch. */
export const PREDICTION_STREAM_DEADLINE_MS = 24 * 3600_000;
