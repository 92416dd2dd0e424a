/** Validates the rules of Memcached that the schema cannot express. */
import { invalid } from 'proreus'
import type { DeepReadonly, FieldError, Incoming } from 'proreus'
import type { Memcached } from './kind.ts'

/** The pattern of the name of a Memcached. The name becomes the value of a label, and the beginning of the names of the Pods. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export function validateMemcached({ metadata: { name } }: DeepReadonly<Incoming<Memcached>>): readonly FieldError[] {
  // In the mutating webhook, the name is undefined if the API server generates it.
  if (name === undefined || label.test(name)) return []
  const rule = "a name must have at most 63 characters: lower case letters, digits and '-', and must begin and end with a letter or digit"
  return [invalid('metadata.name', name, `${rule}, because it becomes a label of the Pods`)]
}
