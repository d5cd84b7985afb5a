/** Everything was done, but an estimate covers only a part of its model. */
export const EXIT_PARTIAL = 3;

/** Stopped by the user. */
export const EXIT_INTERRUPTED = 130;
