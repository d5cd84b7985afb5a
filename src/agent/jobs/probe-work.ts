/** Steps of the work that a probe times: 20 to 40 µs on a current processor. */
const STEPS = 30_000;

/** Number of calls after which the JavaScript engine no longer recompiles the work. */
const WARMUP_CALLS = 300;

/** Receives the results of the work, so that the engine cannot remove the work as dead code. */
const sink = new Int32Array(1);

/** Chains of integer operations that occupy a core's execution units as kernels do, and use no memory. */
function work(): void {
  let a = STEPS;
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  for (let step = 0; step < STEPS; step++) {
    a ^= step;
    b ^= a;
    c ^= step;
    d ^= c;
    e ^= step;
    f ^= e;
  }
  sink[0] = a ^ b ^ c ^ d ^ e ^ f;
}

export function warmUpWork(): void {
  for (let call = 0; call < WARMUP_CALLS; call++) work();
}

/** Nanoseconds that the work takes: the fastest of several tries, because an interrupt may lengthen one of them. */
export function timeWork(nowNs: () => bigint, tries: number): number {
  let fastest = Infinity;
  for (let attempt = 0; attempt < tries; attempt++) {
    const startNs = nowNs();
    work();
    fastest = Math.min(fastest, Number(nowNs() - startNs));
  }
  return fastest;
}
