export interface PublishedType {
  readonly type: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** As they are written, for the platform's registry. */
export interface PublishedParts {
  readonly inputs: readonly PublishedType[];
  /** The first one: the registry takes only one. */
  readonly output: PublishedType | undefined;
  readonly model: {
    readonly base_url: string;
    readonly graph_path: string;
    readonly weights_path: string;
    readonly is_archive: boolean;
    readonly graph_checksum: string;
    readonly weights_checksum: string;
  };
  /** Lists leave the model out. */
  readonly hidden: boolean;
}
