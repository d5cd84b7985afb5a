/** Ended normally, but with a part missing: of an estimate, a prediction, or sent results; or the doctor warns. */
export const EXIT_PARTIAL = 3;

/** Found what its user wants to fail for: a slower model, or another result. */
export const EXIT_REFUSED = 4;

export const EXIT_INTERRUPTED = 130;
