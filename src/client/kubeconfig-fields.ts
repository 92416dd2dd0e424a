/** The types of a kubeconfig's fields (`k8s.io/client-go/tools/clientcmd/api/v1`: `types.go`). */
import { quote } from '../api/field-error.ts'
import type { JsonValue } from '../api/json.ts'
import { isObject } from '../api/json.ts'

type FieldType =
  | 'a string'
  | 'true or false'
  | { readonly list: FieldType }
  | { readonly map: FieldType; readonly except?: ReadonlyMap<string, FieldType> }
  | { readonly fields: Readonly<Record<string, FieldType>> }

const text = 'a string'
const bool = 'true or false'
/** Only the name of an extension is validated, because its content may have any type. */
const extensions: FieldType = { list: { fields: { name: text } } }

const cluster: FieldType = {
  fields: {
    server: text,
    'tls-server-name': text,
    'insecure-skip-tls-verify': bool,
    'certificate-authority': text,
    'certificate-authority-data': text,
    'proxy-url': text,
    'disable-compression': bool,
    extensions,
  },
}

const exec: FieldType = {
  fields: {
    apiVersion: text,
    command: text,
    args: { list: text },
    env: { list: { fields: { name: text, value: text } } },
    installHint: text,
    provideClusterInfo: bool,
    interactiveMode: text,
  },
}

const user: FieldType = {
  fields: {
    'client-certificate': text,
    'client-certificate-data': text,
    'client-key': text,
    'client-key-data': text,
    token: text,
    tokenFile: text,
    as: text,
    'as-uid': text,
    'as-groups': { list: text },
    'as-user-extra': { map: { list: text } },
    username: text,
    password: text,
    // The `config` of an `auth-provider` is a map of strings. client-node also accepts an object as the value of the key `exec` in this
    // map: https://github.com/kubernetes-client/javascript (`src/exec_auth.ts`).
    'auth-provider': { fields: { name: text, config: { map: text, except: new Map([['exec', exec]]) } } },
    exec,
    extensions,
  },
}

const context: FieldType = { fields: { cluster: text, user: text, namespace: text, extensions } }

const kubeconfig: FieldType = {
  fields: {
    clusters: { list: { fields: { name: text, cluster } } },
    users: { list: { fields: { name: text, user } } },
    contexts: { list: { fields: { name: text, context } } },
    'current-context': text,
  },
}

/**
 * Returns an error message for the first field of a kubeconfig that does not have the type that kubectl expects; undefined if there is
 * none. If such a field were ignored, requests could be sent as another user, or to another server.
 *
 * The message does not contain the value of the field, because the value may be a secret.
 */
export function wrongField(content: JsonValue): string | undefined {
  return wrong(content, kubeconfig, '')
}

function wrong(value: JsonValue | undefined, type: FieldType, path: string): string | undefined {
  // As in kubectl, a field with the value `null` counts as absent.
  if (value === null || value === undefined) return undefined
  if (type === text) return typeof value === 'string' ? undefined : mismatch(path, value, type)
  if (type === bool) return typeof value === 'boolean' ? undefined : mismatch(path, value, type)
  if ('list' in type) {
    if (!Array.isArray(value)) return mismatch(path, value, 'a list')
    return first(value, (item, index) =>
      // kubectl reads `null` in a list of strings as an empty string, e.g. as an empty group. Here, `null` is an error.
      item === null && type.list === text
        ? mismatch(`${path}[${index}]`, item, text)
        : wrong(item, type.list, `${path}[${nameOf(item) ?? index}]`),
    )
  }
  if (!isObject(value)) return mismatch(path, value, 'an object')
  if ('map' in type)
    return first(Object.entries(value), ([key, item]) => wrong(item, type.except?.get(key) ?? type.map, `${path}[${quote(key)}]`))
  const prefix = path === '' ? '' : `${path}.`
  return first(Object.entries(type.fields), ([field, expected]) =>
    Object.hasOwn(value, field) ? wrong(value[field], expected, `${prefix}${field}`) : undefined,
  )
}

/** Returns the first problem that `check` finds in an item. */
function first<Item>(items: readonly Item[], check: (item: Item, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Returns the quoted name of an entry, e.g. of a user. A name is easier to find in the file than an index. */
function nameOf(item: JsonValue): string | undefined {
  return isObject(item) && typeof item.name === 'string' ? quote(item.name) : undefined
}

function mismatch(path: string, value: JsonValue, expected: string): string {
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
  const quotes = expected === text && ['number', 'boolean'].includes(typeof value) ? ': put the value in quotes' : ''
  return `${path} is ${found}; expected is ${expected}${quotes}`
}
