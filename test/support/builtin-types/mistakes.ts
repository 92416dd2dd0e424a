/** Derives invalid values of built-in types from a valid value. Each invalid value has one mistake that an OpenAPI schema can detect. */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import type { BuiltinValue } from '../../../src/builtin-schemas/types.ts'
import { builtinFields } from '../../../src/builtin-schemas/types.ts'

export interface Mistake {
  readonly what: 'missing' | 'null' | 'empty' | 'wrong type' | 'wrong text' | 'unknown field'
  /** The path of the mistake, for example `containers[0].name`. */
  readonly path: string
  /** The complete value, which contains the mistake. */
  readonly value: JsonObject
}

/**
 * Returns one invalid value for each possible mistake in each field that is set in `value`. If a field occurs several times, only its first
 * occurrence is changed.
 */
export function mistakesIn(type: string, value: JsonObject): readonly Mistake[] {
  const found: Mistake[] = []
  const seen = new Set<string>()
  visitType(type, value, '', seen, (what, path, changed) => found.push({ what, path, value: changed as JsonObject }))
  return found
}

type Report = (what: Mistake['what'], path: string, changed: JsonValue) => void

interface Visit {
  /** The types and fields for which `mistakesIn` has already returned a mistake. */
  readonly seen: Set<string>
  readonly isNew: boolean
}

function visitType(type: string, object: JsonObject, path: string, seen: Set<string>, report: Report): void {
  if (isFirst(seen, type)) report('unknown field', join(path, 'noSuchField'), { ...object, noSuchField: 1 })
  for (const { name, required, value: form } of builtinFields(type)!) {
    const value = object[name]
    if (value === undefined) continue
    const here = join(path, name)
    const isNew = isFirst(seen, `${type}.${name}`)
    const set = (changed: JsonValue): JsonObject => ({ ...object, [name]: changed })
    if (required && isNew) {
      const { [name]: _, ...rest } = object
      report('missing', here, rest)
    }
    if (isNew) report('null', here, set(null))
    visitValue(form, value, here, { seen, isNew }, (what, at, changed) => report(what, at, set(changed)))
  }
}

function visitValue(form: BuiltinValue, value: JsonValue, path: string, visit: Visit, report: Report): void {
  const { seen, isNew } = visit
  for (const wrong of isNew ? wrongValues(form) : []) report('wrong type', path, wrong)
  if (isNew && form.form === 'enum') report('wrong text', path, 'Nonsense')
  if (isNew && typeof value === 'string' && form.form !== 'type') report('empty', path, '')
  if (form.form === 'type' && isObject(value)) visitType(form.name, value, path, seen, report)
  if (form.form === 'map' && isObject(value)) {
    for (const [key, item] of Object.entries(value as Readonly<Record<string, JsonValue>>)) {
      visitValue(form.values, item, `${path}.${key}`, visit, (what, at, changed) => report(what, at, { ...value, [key]: changed }))
    }
  }
  if (form.form === 'list' && Array.isArray(value)) {
    value.forEach((item, index) => {
      visitValue(form.items, item, `${path}[${index}]`, visit, (what, at, changed) => report(what, at, value.with(index, changed)))
    })
  }
}

function wrongValues(form: BuiltinValue): readonly JsonValue[] {
  switch (form.form) {
    case 'enum':
      return [7, true, {}]
    case 'type':
    case 'map':
      return ['text', 7, []]
    case 'list':
      return ['text', {}, 7]
    case 'scalar':
      switch (form.scalar) {
        case 'int32':
        case 'int64':
          return ['7', 7.5, true, []]
        case 'boolean':
          return ['true', 1]
        case 'quantity':
          return ['much', true, {}]
        case 'int-or-string':
          return [true, {}, 7.5]
        case 'object':
          return ['text', 7]
        default:
          return [7, true, {}]
      }
  }
}

function isFirst(seen: Set<string>, name: string): boolean {
  const { size } = seen
  return seen.add(name).size > size
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
