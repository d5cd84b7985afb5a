import { z } from 'zod';

/** What ends up in messages and tables: nothing in it that a terminal would act on. May be empty. */
export function line(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'not a line');
}

/** The same, of several lines. */
export function text(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^(?:[^\p{C}\p{Zl}\p{Zp}]|[\t\r\n])*$/u, 'not a text');
}
