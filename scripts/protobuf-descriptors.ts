/**
 * Writes `src/devcluster/protobuf/descriptors.json`: the numbers, types and JSON names of the protobuf fields of Kubernetes' built-in
 * types. The sources are the `generated.proto` files and the tags of the Go structs in the modules that `tools/kubernetes` requires.
 *
 * With `--check`, the script writes nothing, and exits with 1 when the file is out of date. If Go or a module is missing, the check is
 * skipped.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const target = join(root, 'src/devcluster/protobuf/descriptors.json')

const api = 'k8s.io/api'
const machinery = 'k8s.io/apimachinery'
const extensions = 'k8s.io/apiextensions-apiserver'
const aggregator = 'k8s.io/kube-aggregator'

/** The Go packages that define the types of some fields of the served types. */
const parts: readonly (readonly [module: string, folder: string])[] = [
  [machinery, 'pkg/api/resource'],
  [machinery, 'pkg/apis/meta/v1'],
  [machinery, 'pkg/runtime'],
  [machinery, 'pkg/util/intstr'],
]

/** The Go packages whose types can be the body of a request. */
const served: readonly (readonly [module: string, folder: string])[] = [
  ...[
    'admissionregistration/v1',
    'apps/v1',
    'authentication/v1',
    'authorization/v1',
    'autoscaling/v1',
    'autoscaling/v2',
    'batch/v1',
    'certificates/v1',
    'coordination/v1',
    'core/v1',
    'discovery/v1',
    'events/v1',
    'networking/v1',
    'policy/v1',
    'rbac/v1',
    'scheduling/v1',
    'storage/v1',
  ].map((folder): [string, string] => [api, folder]),
  [extensions, 'pkg/apis/apiextensions/v1'],
  [aggregator, 'pkg/apis/apiregistration/v1'],
]

const scalars: ReadonlySet<string> = new Set(['bool', 'bytes', 'double', 'int32', 'int64', 'string'])

interface GoModule {
  readonly Path: string
  readonly Version: string
  readonly Dir?: string
  /** The module that is used instead of this module because of a `replace` directive in the go.mod of `tools/kubernetes`. */
  readonly Replace?: { readonly Version: string }
}

interface GoField {
  readonly goName: string
  readonly isPointer: boolean
  /** The JSON name of the field; empty for an inlined struct. In JSON, the fields of an inlined struct are fields of the outer struct. */
  readonly jsonName: string
  readonly omitsEmpty: boolean
  readonly omitsZero: boolean
}

interface ProtoField {
  readonly name: string
  readonly type: string
  readonly label: '' | '[]' | '{}'
}

interface Package {
  readonly proto: string
  readonly messages: ReadonlyMap<string, ReadonlyMap<number, ProtoField>>
  readonly structs: ReadonlyMap<string, ReadonlyMap<number, GoField>>
  readonly kinds: readonly string[]
  readonly group: string
}

/**
 * Returns the Go modules with their folders, keyed by module path; undefined when a module is missing. With `download`, missing modules are
 * downloaded first.
 */
function goModules(download: boolean): Map<string, GoModule> | undefined {
  const names = [api, machinery, extensions, aggregator]
  const args = download ? ['mod', 'download', '-json', ...names] : ['list', '-m', '-json', ...names]
  const { status, stdout } = spawnSync('go', args, { cwd: join(root, 'tools/kubernetes'), encoding: 'utf8' })
  if (status !== 0) return undefined
  const modules = JSON.parse(`[${stdout.trim().replaceAll(/\}\s*\{/g, '},{')}]`) as GoModule[]
  if (modules.some(({ Dir }) => Dir === undefined)) return undefined
  return new Map(modules.map((module) => [module.Path, module]))
}

function readPackage(folder: string): Package {
  const proto = withoutComments(readFileSync(join(folder, 'generated.proto'), 'utf8'))
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go') && !/^(zz_)?generated/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const structs = new Map<string, ReadonlyMap<number, GoField>>()
  const kinds: string[] = []
  for (const source of sources) {
    for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
      structs.set(name, goFields(body))
      if (/^\s+(metav1\.)?TypeMeta\s/m.test(body) && !/(List|[^e]Options)$/.test(name)) kinds.push(name)
    }
  }
  const all = sources.join('\n')
  return {
    proto: /^package ([\w.]+);/m.exec(proto)![1]!,
    messages: new Map([...proto.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)].map(([, name = '', body = '']) => [name, protoFields(body)])),
    structs,
    kinds: kinds.sort(),
    group: /^const GroupName = "([^"]*)"/m.exec(all)?.[1] ?? '',
  }
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\/.*\n/gm, '')
}

function protoFields(body: string): ReadonlyMap<number, ProtoField> {
  const fields = new Map<number, ProtoField>()
  for (const line of body.split('\n')) {
    const [, label = '', mapped, plain = '', name = '', number] =
      /^\s+(?:map<string, ([\w.]+)>|(?:optional|repeated|required) ([\w.]+)) (\w+) = (\d+);/.exec(line)?.toSpliced(1, 0, labelOf(line)) ??
      []
    if (number !== undefined) fields.set(Number(number), { name, type: mapped ?? plain, label: label as ProtoField['label'] })
    else if (line.trim() !== '') throw new Error(`what is this in a generated.proto: ${line}`)
  }
  return fields
}

function labelOf(line: string): ProtoField['label'] {
  return /^\s+map</.test(line) ? '{}' : /^\s+repeated/.test(line) ? '[]' : ''
}

/** Returns the fields of a struct in the order of the Go struct, keyed by their protobuf numbers. */
function goFields(body: string): ReadonlyMap<number, GoField> {
  const fields = new Map<number, GoField>()
  for (const [, name, goType = '', tags = ''] of body.matchAll(/^\s+(?:(\w+)\s+)?([\w.*[\]]+)\s+`([^`]*)`/gm)) {
    const [, number, protoName = ''] = /protobuf:"\w+,(\d+),\w+,name=(\w+)/.exec(tags) ?? /protobuf:"\w+,(\d+),/.exec(tags) ?? []
    if (number === undefined) continue
    const [jsonName = '', ...options] = /json:"([^"]*)"/.exec(tags)?.[1]?.split(',') ?? ['-', 'omitempty']
    const isInline = jsonName === '' && options.includes('inline')
    const goName = name ?? goType.replace(/^.*[.*]/, '')
    // A field with the tag `json:"-"` or without a JSON tag belongs to a struct with a custom JSON form. Examples of such structs are
    // FieldsV1 and IntOrString. For such a field, the descriptor uses the name of the protobuf field as the JSON name.
    fields.set(Number(number), {
      goName,
      isPointer: goType.startsWith('*') || jsonName === '-',
      jsonName: isInline ? '' : jsonName === '-' ? protoName : jsonName || goName,
      omitsEmpty: options.includes('omitempty') || jsonName === '-',
      omitsZero: options.includes('omitzero'),
    })
  }
  return fields
}

/** Returns the name of a protobuf message without its prefix: `core.v1.Pod` for `k8s.io.api.core.v1.Pod`. */
function shortName(full: string): string {
  return full.replace(/^k8s\.io\.\w+\.(pkg\.)?(apis?\.|util\.)?/, '')
}

function generate(modules: ReadonlyMap<string, GoModule>): string {
  const packages = new Map<string, Package>()
  const read = ([module, folder]: readonly [string, string]): Package => {
    const found = readPackage(join(modules.get(module)!.Dir!, folder))
    packages.set(found.proto, found)
    return found
  }
  for (const part of parts) read(part)
  const messages = new Map<string, string>()

  const describe = (full: string): void => {
    const name = shortName(full)
    if (messages.has(name)) return
    const dot = full.lastIndexOf('.')
    const holder = packages.get(full.slice(0, dot))
    const fields = holder?.messages.get(full.slice(dot + 1))
    if (holder === undefined || fields === undefined) throw new Error(`there is no message ${full}`)
    messages.set(name, '')
    const next: string[] = []
    const typeOf = (type: string): string => {
      if (scalars.has(type)) return type
      const absolute = type.includes('.') ? type.replace(/^\./, '') : `${holder.proto}.${type}`
      next.push(absolute)
      return type.includes('.') ? shortName(absolute) : type
    }
    const struct = holder.structs.get(full.slice(dot + 1))
    const known = struct === undefined || struct.size === 0 ? untagged(fields) : struct
    if (known.size !== fields.size) throw new Error(`${full} has ${fields.size} fields in protobuf and ${known.size} in Go`)
    const texts = [...known].map(([number, { goName, isPointer, jsonName, omitsEmpty, omitsZero }]) => {
      const { type, label } = fields.get(number)!
      const isStruct = label === '' && !isPointer && !scalars.has(type)
      const usual = capitalized(jsonName)
      return [
        `${number} ${label}${isPointer && label === '' ? '*' : ''}${typeOf(type)} ${jsonName === '' ? '-' : jsonName}`,
        omitsZero || (omitsEmpty && !isStruct) ? '?' : '',
        goName === usual ? '' : ` ${goName}`,
      ].join('')
    })
    messages.set(name, texts.join(';'))
    for (const type of next) describe(type)
  }

  const found = served.map(([module, folder]) => ({ folder, ...read([module, folder]) }))
  const kinds: Record<string, string> = {}
  for (const { folder, proto, group, kinds: names } of found) {
    kinds[apiVersionOf(group, folder)] = [shortName(proto), ...names].join(' ')
    for (const name of names) describe(`${proto}.${name}`)
  }
  describe('k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions')
  describe('k8s.io.apimachinery.pkg.runtime.Unknown')

  const versions = [...modules.values()].map(({ Path, Version, Replace }) => `${Path} ${Replace?.Version ?? Version}`).sort()
  const data = {
    about: `Fields of Kubernetes' own types, as "number type name". Written by scripts/protobuf-descriptors.ts, which says more, from the generated.proto files and the struct tags of ${versions.join(', ')}.`,
    kinds,
    otherKinds: otherKinds(modules.get(api)!.Dir!),
    messages: Object.fromEntries([...messages].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
  return `${JSON.stringify(data, undefined, 2)}\n`
}

/**
 * Returns the kinds in those API versions of `k8s.io/api` that the embedded API server does not serve. A key of the result is an
 * apiVersion, and its value contains the kinds of this version, separated by spaces.
 *
 * If the result contains the apiVersion and the kind of a request body, kube-apiserver rejects the body with a different error than a body
 * of an unknown kind. The embedded API server returns the same errors as kube-apiserver.
 */
function otherKinds(folder: string): Record<string, string> {
  const kinds: Record<string, string> = {}
  for (const path of globSync('*/v*/generated.proto', { cwd: folder }).map(dirname).sort()) {
    if (served.some((known) => known[1] === path)) continue
    const { group, kinds: names } = readPackage(join(folder, path))
    if (names.length > 0) kinds[apiVersionOf(group, path)] = names.join(' ')
  }
  return kinds
}

function apiVersionOf(group: string, folder: string): string {
  return group === '' ? basename(folder) : `${group}/${basename(folder)}`
}

/** Derives Go fields from protobuf fields. This is necessary for a message whose Go struct is missing or has no protobuf tags. */
function untagged(fields: ReadonlyMap<number, ProtoField>): ReadonlyMap<number, GoField> {
  const asGo = ({ name }: ProtoField): GoField => ({
    goName: capitalized(name),
    isPointer: true,
    jsonName: name,
    omitsEmpty: true,
    omitsZero: false,
  })
  return new Map([...fields].map(([number, field]) => [number, asGo(field)]))
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const check = process.argv.includes('--check')
const modules = goModules(!check)
if (modules === undefined) {
  process.stdout.write(
    check ? 'not compared: there are no Go modules of Kubernetes here\n' : 'go cannot give the modules of tools/kubernetes\n',
  )
  process.exitCode = check ? 0 : 1
} else {
  const text = generate(modules)
  if (!check) {
    writeFileSync(target, text)
  } else if (readFileSync(target, 'utf8') !== text) {
    process.stdout.write('not up to date: src/devcluster/protobuf/descriptors.json; run "npm run protobuf"\n')
    process.exitCode = 1
  }
}
