/**
 * Kubernetes' own types as `types.json` has them, the data that `scripts/builtin-schemas.ts` writes. There, a type is its fields by
 * name; `!` ends the name of a required one. A field is one of
 *
 *     string, boolean, int32, int64, bytes, time, quantity, int-or-string, object (any)
 *     =A|B               one of these texts
 *     Container          another type
 *     [X], {X}           a list or a map of X
 *     [X] by name,port   a list whose items are known by these fields
 */
import data from './types.json' with { type: 'json' }

const scalars = ['string', 'boolean', 'int32', 'int64', 'bytes', 'time', 'quantity', 'int-or-string', 'object'] as const

export type BuiltinScalar = (typeof scalars)[number]

export type BuiltinValue =
  | { readonly form: 'scalar'; readonly scalar: BuiltinScalar }
  | { readonly form: 'enum'; readonly values: readonly string[] }
  | { readonly form: 'type'; readonly name: string }
  | { readonly form: 'list'; readonly items: BuiltinValue; readonly keys: readonly string[] }
  | { readonly form: 'map'; readonly values: BuiltinValue }

export interface BuiltinField {
  readonly name: string
  readonly required: boolean
  readonly value: BuiltinValue
}

const types = data.types as Readonly<Record<string, Readonly<Record<string, string>>>>

/** The names of all types that there are, also of those that only others refer to. */
export const builtinTypeNames: readonly string[] = Object.keys(types)

/** The fields of a type; undefined when there is no such type. */
export function builtinFields(name: string): readonly BuiltinField[] | undefined {
  if (!Object.hasOwn(types, name)) return undefined
  return Object.entries(types[name]!).map(([field, text]) => {
    const required = field.endsWith('!')
    return { name: required ? field.slice(0, -1) : field, required, value: valueOf(text) }
  })
}

function valueOf(text: string): BuiltinValue {
  if (text.startsWith('=')) return { form: 'enum', values: text.slice(1).split('|') }
  if (text.startsWith('{')) return { form: 'map', values: valueOf(text.slice(1, -1)) }
  if (text.startsWith('[')) {
    const end = text.lastIndexOf(']')
    const [, keys] = text.slice(end + 1).split(' by ')
    return { form: 'list', items: valueOf(text.slice(1, end)), keys: keys?.split(',') ?? [] }
  }
  const scalar = scalars.find((candidate) => candidate === text)
  return scalar === undefined ? { form: 'type', name: text } : { form: 'scalar', scalar }
}
