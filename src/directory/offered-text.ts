import { z } from 'zod';

/** A text for messages and tables, without characters that control a terminal. May be empty. */
export function line(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'not a line');
}

/** The same for a text of several lines. */
export function text(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^(?:[^\p{C}\p{Zl}\p{Zp}]|[\t\r\n])*$/u, 'not a text');
}
