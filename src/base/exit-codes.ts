/**
 * The command ended normally, but an estimate covers only a part of its model, a prediction failed, or results could
 * not be sent to their server.
 */
export const EXIT_PARTIAL = 3;

/** A comparison found what its user wants to fail for: a model became slower. */
export const EXIT_SLOWER = 4;

/** Stopped by the user. */
export const EXIT_INTERRUPTED = 130;
