/** The names of the Go types of CEL values. kube-apiserver's error messages contain these names. */
import { SchemaList, SchemaMap, SchemaObject } from './schema-values.ts'
import type { Value } from './values.ts'
import { typeNameOf } from './values.ts'

const goTypes: Readonly<Record<string, string>> = {
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  null_type: 'types.Null',
  list: '*types.baseList',
  map: '*types.baseMap',
  type: '*types.Type',
  optional_type: '*types.Optional',
  'google.protobuf.Timestamp': 'types.Timestamp',
  'google.protobuf.Duration': 'types.Duration',
  'kubernetes.Quantity': 'cel.Quantity',
  'kubernetes.URL': 'cel.URL',
  'kubernetes.Semver': 'cel.Semver',
  'kubernetes.NamedFormat': 'cel.Format',
  'net.IP': 'cel.IP',
  'net.CIDR': 'cel.CIDR',
}

export function goTypeOf(value: Value): string {
  if (value instanceof SchemaObject || value instanceof SchemaMap) return '*common.unstructuredMap'
  if (value instanceof SchemaList) {
    const kind = value.semantics === undefined ? '' : value.semantics === 'set' ? 'Set' : 'Map'
    return `*common.unstructured${kind}List`
  }
  const name = typeNameOf(value)
  return goTypes[name] ?? name
}
