/** Returns the types of values, as the function `type(x)` does. */
import type { Type } from './types.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from './types.ts'
import type { Value } from './values.ts'
import { typeNameOf } from './values.ts'

const byName: ReadonlyMap<string, Type> = new Map(
  [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listType(dynType),
    mapType(dynType, dynType),
    nullType,
    optionalType(dynType),
    stringType,
    timestampType,
    typeType(),
    uintType,
  ].map((type) => [type.name, type]),
)

export function typeOfValue(value: Value): Type {
  const name = typeNameOf(value)
  return byName.get(name) ?? opaqueType(name)
}

/** Types that expressions can refer to by name. */
export const namedTypes: ReadonlyMap<string, Type> = new Map([
  ...byName,
  ...['net.IP', 'net.CIDR'].map((name) => [name, opaqueType(name)] as const),
])
