/** The fields of Kubernetes' own types, from the data that `scripts/protobuf-descriptors.ts` writes. */
import data from './descriptors.json' with { type: 'json' }

const scalars = ['bool', 'bytes', 'double', 'int32', 'int64', 'string'] as const

export type Scalar = (typeof scalars)[number]

export interface FieldDescriptor {
  readonly number: number
  /** The name in JSON; undefined: the fields of the message stand in the place of this one. */
  readonly name: string | undefined
  /** The name in Go, for errors. */
  readonly goName: string
  readonly label: 'one' | 'list' | 'map'
  /** It can be absent, which is something else than its zero value. */
  readonly pointer: boolean
  /** Go's JSON leaves it out when it is empty: `omitempty`, or `omitzero` for messages that are there always. */
  readonly omitsEmpty: boolean
  /** Of each value, where there are many: a scalar, or the name of a message. */
  readonly type: Scalar | { readonly message: string }
}

export interface MessageDescriptor {
  /** `core.v1.Pod`. */
  readonly name: string
  /** In the order in which Go writes them as JSON. */
  readonly fields: readonly FieldDescriptor[]
  readonly byNumber: ReadonlyMap<number, FieldDescriptor>
}

const texts: Readonly<Record<string, string>> = data.messages
const parsed = new Map<string, MessageDescriptor>()

/** The fields of a message, by its name with its package: `core.v1.Pod`. */
export function messageDescriptor(name: string): MessageDescriptor {
  const known = parsed.get(name)
  if (known !== undefined) return known
  const holder = name.slice(0, name.lastIndexOf('.'))
  const fields = texts[name]! === '' ? [] : texts[name]!.split(';').map((text) => fieldOf(text, holder))
  const message = { name, fields, byNumber: new Map(fields.map((field) => [field.number, field])) }
  parsed.set(name, message)
  return message
}

/** `3 []*Foo foos? Goo`: number, type, name in JSON (`-`: none), name in Go unless it follows from that in JSON. */
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
  /** The package of the messages; undefined: they are known by name alone. */
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

/** Types of `meta/v1` that are known whatever the apiVersion; those that every group of Kubernetes' own has; and what `v1` has besides. */
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

/** Whether Kubernetes has such a type, served or not: an object, a list of them, or what is sent beside objects. */
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

/** The message of a type that a body can be; undefined where there is none. */
export function messageOfKind(apiVersion: string, kind: string): MessageDescriptor | undefined {
  // Every group has these options of `meta/v1` among its types, those of custom resources too.
  if (kind === 'DeleteOptions') return messageDescriptor('meta.v1.DeleteOptions')
  const found = kinds.get(apiVersion)
  return found?.holder !== undefined && found.names.has(kind) ? messageDescriptor(`${found.holder}.${kind}`) : undefined
}
