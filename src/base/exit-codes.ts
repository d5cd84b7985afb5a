/**
 * The command ended normally, but an estimate covers only a part of its model, a prediction failed, or results could
 * not be sent to their server, or the doctor warns.
 */
export const EXIT_PARTIAL = 3;

/** The command found what its user wants to fail for: a model that became slower, or a result that says something else. */
export const EXIT_REFUSED = 4;

export const EXIT_INTERRUPTED = 130;
