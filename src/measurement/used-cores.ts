/** How many of a machine's cores a number of threads uses, in words: "1 of 2 cores", "64 threads on 2 cores". */
export function usedCores(threads: number, cores: number): string {
  const all = cores === 1 ? '1 core' : `${cores} cores`;
  return threads > cores ? `${threads} threads on ${all}` : `${threads} of ${all}`;
}
