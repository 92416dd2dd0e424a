/** Message descriptors of the built-in types, from the data that `scripts/protobuf-descriptors.ts` generates. */
import data from './descriptors.json' with { type: 'json' }

const scalars = ['bool', 'bytes', 'double', 'int32', 'int64', 'string'] as const

export type Scalar = (typeof scalars)[number]

export interface FieldDescriptor {
  readonly number: number
  /** Name in JSON; undefined for an inlined message. */
  readonly name: string | undefined
  /** Name in Go, for errors. */
  readonly goName: string
  readonly label: 'one' | 'list' | 'map'
  /** True when a missing value differs from the zero value. */
  readonly pointer: boolean
  /** True when Go omits an empty value from JSON: `omitempty`, or `omitzero` for messages. */
  readonly omitsEmpty: boolean
  /** Type of the values: a scalar, or the name of a message. */
  readonly type: Scalar | { readonly message: string }
}

export interface MessageDescriptor {
  /** Name with the package, e.g. `core.v1.Pod`. */
  readonly name: string
  /** In the order of Go's JSON. */
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
 * Parses `3 []*Foo foos? Goo`: number, type, name in JSON (`-` when inlined; `?` for omitempty), and name in Go unless it is the
 * capitalized JSON name.
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
  /** The package of the messages; undefined when only the names of the kinds are known. */
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

/**
 * These sets are the kinds that are registered for every apiVersion, the kinds for every built-in group version, and further kinds of `v1`.
 */
const unversioned: ReadonlySet<string> = new Set(['DeleteOptions', 'Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'])
const everywhere: ReadonlySet<string> = new Set([
  'ListOptions',
  'GetOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'WatchEvent',
])
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

/** True when kube-apiserver's scheme has the type: an object, a list, or options. The type need not be served. */
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

/** Returns the message of a type; undefined when the type cannot be a body. */
export function messageOfKind(apiVersion: string, kind: string): MessageDescriptor | undefined {
  // DeleteOptions are registered for every group, including the groups of custom resources.
  if (kind === 'DeleteOptions') return messageDescriptor('meta.v1.DeleteOptions')
  const found = kinds.get(apiVersion)
  return found?.holder !== undefined && found.names.has(kind) ? messageDescriptor(`${found.holder}.${kind}`) : undefined
}
