import type { AgentOffer } from '../../../src/directory/agent-offer.js';

export function offer(changes: Partial<AgentOffer> = {}): AgentOffer {
  return {
    address: '10.0.0.1:7070',
    tls: true,
    hostname: 'bench-1',
    framework: 'onnxruntime',
    frameworkVersion: '1.30.0',
    architecture: 'x64',
    processor: 'AMD EPYC 9654 96-Core Processor',
    operatingSystem: 'Linux 6.1',
    cores: 4,
    memoryBytes: 16 * 2 ** 30,
    models: [],
    ...changes,
  };
}
