import { z } from 'zod';

export function line(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'not a line');
}

export function text(most: number): z.ZodString {
  return z
    .string()
    .max(most, `more than ${most} characters`)
    .regex(/^(?:[^\p{C}\p{Zl}\p{Zp}]|[\t\r\n])*$/u, 'not a text');
}
