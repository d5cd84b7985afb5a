import { Server, type ServiceDefinition, type ServerOptions, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { contractFormat, type MessageFormat, standardFormat } from './message-format.js';

const asItIs = (bytes: Buffer): Buffer => bytes;

/** The library's server with requests and answers as bytes; interceptors decode and encode them by {@link formats}. */
export class GuardedServer extends Server {
  readonly formats: Map<string, MessageFormat>;

  constructor(makeOptions: (formats: ReadonlyMap<string, MessageFormat>) => ServerOptions) {
    const formats = new Map<string, MessageFormat>();
    super(makeOptions(formats));
    this.formats = formats;
  }

  override addService(definition: ServiceDefinition, implementation: UntypedServiceImplementation): void {
    this.#add(definition, implementation, (_, method) => standardFormat(method));
  }

  /** @param maxRequestBytes by method; 4 MiB without one */
  addContractService(
    definition: ServiceDefinition,
    implementation: UntypedServiceImplementation,
    maxRequestBytes: ReadonlyMap<string, number | undefined>,
  ): void {
    this.#add(definition, implementation, (name, method) => contractFormat(method, maxRequestBytes.get(name)));
  }

  #add(
    definition: ServiceDefinition,
    implementation: UntypedServiceImplementation,
    formatOf: (name: string, method: ServiceDefinition[string]) => MessageFormat,
  ): void {
    const bytesOnly = Object.entries(definition).map(([name, method]) => {
      this.formats.set(method.path, formatOf(name, method));
      return [name, { ...method, requestDeserialize: asItIs, responseSerialize: asItIs }];
    });
    super.addService(Object.fromEntries(bytesOnly) as ServiceDefinition, implementation);
  }
}
