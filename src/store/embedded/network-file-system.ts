import { statfsSync } from 'node:fs';

/** f_type of file systems that several machines see at once (Linux, statfs(2) and include/uapi/linux/magic.h). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x5346414f, 'AFS'],
]);

/** The warning about a store on a network file system, where LMDB's locks do not reach other machines. */
export function networkWarning(folder: string, type = statfsSync(folder).type): string | undefined {
  const name = NETWORK_FILE_SYSTEMS.get(type >>> 0);
  if (name === undefined) return undefined;
  return (
    `The store ${folder} is on a network file system (${name}). Two machines that use it at the same time damage it: ` +
    'give each machine a folder of its own with --store or MLMODELSCOPE_STORE.'
  );
}
