import { linear } from '../../convolution.js';
import { chain, dropout, flatten, type Layer, softmax } from '../../tensor.js';

export function classes(count: number): Layer {
  return chain(linear(count), softmax);
}

export function pooledClasses(count: number, options: { readonly dropout?: boolean } = {}): Layer {
  return chain(...(options.dropout === true ? [dropout] : []), flatten, classes(count));
}
