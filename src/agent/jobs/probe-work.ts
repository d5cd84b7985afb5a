/** Steps of the work that a probe times: 20 to 40 µs on a current processor. */
const STEPS = 30_000;

/** Calls until the JavaScript engine has compiled the work for good. */
const WARMUP_CALLS = 300;

/** The results of the work, which keep the engine from leaving the work out. */
const sink = new Int32Array(1);

/** Six independent chains of integers: they occupy the execution units of a core as kernels do, and no memory. */
function work(): void {
  let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6];
  for (let step = 0; step < STEPS; step++) {
    a = (a + step) | 0;
    b = (b ^ a) | 0;
    c = (c + step) | 0;
    d = (d ^ c) | 0;
    e = (e + step) | 0;
    f = (f ^ e) | 0;
  }
  sink[0] = a + b + c + d + e + f;
}

/** Has the work compiled. */
export function warmUpWork(): void {
  for (let call = 0; call < WARMUP_CALLS; call++) work();
}

/** Nanoseconds that the work takes now: the fastest of so many tries, since an interrupt lengthens one of them. */
export function timeWork(nowNs: () => bigint, tries: number): number {
  let fastest = Infinity;
  for (let attempt = 0; attempt < tries; attempt++) {
    const startNs = nowNs();
    work();
    fastest = Math.min(fastest, Number(nowNs() - startNs));
  }
  return fastest;
}
