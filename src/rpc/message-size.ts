/** Largest message either way. A brick or a model without weights takes kilobytes, the widest graphs a few megabytes. */
export const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
