import { PlatformError } from '../base/errors.js';

export function onlyForAgentHere(option: string, other: '--agent' | '--server'): PlatformError {
  const problem = `${option} is for an agent that is started here, and other agents have their own`;
  return new PlatformError('usage', `${problem}; leave out ${option} or ${other}`);
}
