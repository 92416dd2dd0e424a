/** Message descriptors of the built-in types, from the data that `scripts/protobuf-descriptors.ts` generates. */
import data from './descriptors.json' with { type: 'json' }

const scalars = ['bool', 'bytes', 'double', 'int32', 'int64', 'string'] as const

export type Scalar = (typeof scalars)[number]

export interface FieldDescriptor {
  readonly number: number
  /** Name of the field in JSON; undefined for an inlined message. */
  readonly name: string | undefined
  /** Name of the field in Go, for error messages. */
  readonly goName: string
  readonly label: 'one' | 'list' | 'map'
  /** True when the Go field is a pointer. A pointer distinguishes a missing value from the zero value. */
  readonly pointer: boolean
  /** True when Go omits an empty value from JSON: `omitempty`, or `omitzero` for messages. */
  readonly omitsEmpty: boolean
  /** A scalar, or the name of a message. For a list, this is the type of the items; for a map, the type of the values. */
  readonly type: Scalar | { readonly message: string }
}

export interface MessageDescriptor {
  /** Name of the message with its package, e.g. `core.v1.Pod`. */
  readonly name: string
  /** The fields in the order in which Go encodes them as JSON. */
  readonly fields: readonly FieldDescriptor[]
  readonly byNumber: ReadonlyMap<number, FieldDescriptor>
}

const texts: Readonly<Record<string, string>> = data.messages
const parsed = new Map<string, MessageDescriptor>()

/** Returns the descriptor of a message. The name includes the package: `core.v1.Pod`. */
export function messageDescriptor(name: string): MessageDescriptor {
  const known = parsed.get(name)
  if (known !== undefined) return known
  const holder = name.slice(0, name.lastIndexOf('.'))
  const fields = texts[name]! === '' ? [] : texts[name]!.split(';').map((text) => fieldOf(text, holder))
  const message = { name, fields, byNumber: new Map(fields.map((field) => [field.number, field])) }
  parsed.set(name, message)
  return message
}

/**
 * Parses the description of a field, e.g. `3 []*Foo foos? Goo`: the number, the type, the name in JSON, and the name in Go. If the name in
 * Go equals the capitalized name in JSON, the name in Go is omitted. The name in JSON is `-` for an inlined message. A `?` after the name
 * in JSON means `omitempty`.
 */
function fieldOf(text: string, holder: string): FieldDescriptor {
  const [number = '', typeText = '', nameText = '', goName] = text.split(' ')
  const [, label, pointer, type = ''] = /^(\[\]|\{\})?(\*)?(.*)$/.exec(typeText)!
  const name = nameText.replace(/\?$/, '')
  return {
    number: Number(number),
    name: name === '-' ? undefined : name,
    goName: goName ?? name.charAt(0).toUpperCase() + name.slice(1),
    label: label === '[]' ? 'list' : label === '{}' ? 'map' : 'one',
    pointer: pointer !== undefined,
    omitsEmpty: nameText.endsWith('?'),
    type: isScalar(type) ? type : { message: type.includes('.') ? type : `${holder}.${type}` },
  }
}

function isScalar(type: string): type is Scalar {
  return (scalars as readonly string[]).includes(type)
}

interface Kinds {
  /**
   * The protobuf package that contains the messages of these kinds, e.g. `core.v1`. Undefined if the generated data contains only the names
   * of these kinds, and no messages.
   */
  readonly holder: string | undefined
  readonly names: ReadonlySet<string>
}

const kinds = new Map<string, Kinds>([
  ...Object.entries(data.otherKinds).map(([apiVersion, names]): [string, Kinds] => [
    apiVersion,
    { holder: undefined, names: new Set(names.split(' ')) },
  ]),
  ...Object.entries(data.kinds).map(([apiVersion, text]): [string, Kinds] => {
    const [holder, ...names] = text.split(' ')
    return [apiVersion, { holder, names: new Set(names) }]
  }),
])

/** Kinds that are registered for every group version, even for those of custom resources. The generated data does not contain them. */
const unversioned: ReadonlySet<string> = new Set(['DeleteOptions', 'Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'])
/** Kinds that are registered for every built-in group version. The generated data does not contain them. */
const everywhere: ReadonlySet<string> = new Set([
  'ListOptions',
  'GetOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'WatchEvent',
])
/** Kinds that are registered only for `v1`. The generated data does not contain them. */
const coreAlone: ReadonlySet<string> = new Set([
  'List',
  'NodeProxyOptions',
  'PodAttachOptions',
  'PodExecOptions',
  'PodLogOptions',
  'PodPortForwardOptions',
  'PodProxyOptions',
  'ServiceProxyOptions',
])

/**
 * True when the type is registered in kube-apiserver's scheme. The scheme contains more types than kube-apiserver serves, for example lists
 * and options.
 */
export function isRegistered(apiVersion: string, kind: string): boolean {
  if (unversioned.has(kind)) return true
  const names = kinds.get(apiVersion)?.names
  if (names === undefined) return false
  return (
    names.has(kind) ||
    (kind.endsWith('List') && names.has(kind.slice(0, -4))) ||
    everywhere.has(kind) ||
    (apiVersion === 'v1' && coreAlone.has(kind))
  )
}

/** Returns the message descriptor of a type; undefined when no request body can have the type. */
export function messageOfKind(apiVersion: string, kind: string): MessageDescriptor | undefined {
  // DeleteOptions are registered for every group, including the groups of custom resources.
  if (kind === 'DeleteOptions') return messageDescriptor('meta.v1.DeleteOptions')
  const found = kinds.get(apiVersion)
  return found?.holder !== undefined && found.names.has(kind) ? messageDescriptor(`${found.holder}.${kind}`) : undefined
}
