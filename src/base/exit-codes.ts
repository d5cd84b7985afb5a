/** Everything was done, but an estimate covers only a part of its model, or results could not be brought to their server. */
export const EXIT_PARTIAL = 3;

/** Stopped by the user. */
export const EXIT_INTERRUPTED = 130;
