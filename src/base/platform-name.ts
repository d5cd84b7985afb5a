import semver from 'semver';

/** A name as the platform compares it. Source: c3sr/dlframework v1.3.4, `CleanString`. */
export function platformName(name: string): string {
  return name.toLowerCase().replace(/[- ]/g, '_');
}

/** `ResNet 50` and `resnet-50` are the same. */
export function isSameName(one: string, other: string): boolean {
  return platformName(one) === platformName(other);
}

/** Whether a request leaves a name or version open. */
export function isAny(asked: string): boolean {
  return asked === '' || asked === '*';
}

export function isLatest(version: string): boolean {
  return version.toLowerCase() === 'latest';
}

export function isWithin(version: string, range: string): boolean {
  const whole = semver.valid(version) ?? semver.coerce(version, { includePrerelease: true });
  return whole !== null && semver.satisfies(whole, range, { includePrerelease: true });
}
