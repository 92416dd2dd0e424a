/** Reads kubeconfig files: validates them, merges them like kubectl, and makes relative paths absolute. */
import { readFile } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, resolve } from 'node:path'
import { ProreusError, messageOf } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import { impersonationHeaders } from './impersonation.ts'
import { wrongField } from './kubeconfig-fields.ts'

/** A named entry of the lists `clusters`, `users` and `contexts`. */
interface Entry extends JsonObject {
  name: string
}

export interface KubeconfigContent {
  readonly files: readonly string[]
  readonly clusters: readonly Entry[]
  readonly users: readonly Entry[]
  readonly contexts: readonly Entry[]
  readonly currentContext?: string
}

/** Reads the files, and merges them into one kubeconfig. If several entries have the same name, the first entry is used. */
export async function readKubeconfig(files: readonly string[]): Promise<KubeconfigContent> {
  const contents = await Promise.all(files.map(readFileContent))
  const currentContext = contents.map((content) => content['current-context']).find((name) => typeof name === 'string' && name !== '')
  return {
    files,
    clusters: merge(contents.map((content, index) => entries(content, 'clusters').map((entry) => absoluteCluster(entry, files[index]!)))),
    users: merge(contents.map((content, index) => entries(content, 'users').map((entry) => absoluteUser(entry, files[index]!)))),
    contexts: merge(contents.map((content) => entries(content, 'contexts'))),
    ...(typeof currentContext === 'string' ? { currentContext } : {}),
  }
}

/**
 * Returns the impersonation headers of a user, from `as`, `as-uid`, `as-groups` and `as-user-extra`; undefined when all four fields are
 * missing.
 *
 * @throws {ProreusError} `PRO_KUBECONFIG` when `as` is missing and one of the other three fields is set. Without this error, requests would
 *   be sent as the user of the credentials, without impersonation.
 */
export function impersonationOf(content: KubeconfigContent, userName: string): Record<string, string | string[]> | undefined {
  const user = content.users.find((entry) => entry.name === userName)?.user
  if (!isObject(user)) return undefined
  const extra = isObject(user['as-user-extra']) ? user['as-user-extra'] : {}
  if (typeof user.as !== 'string' || user.as === '') {
    const alone = ['as-uid', 'as-groups', 'as-user-extra'].find((field) => !isEmpty(user[field]))
    if (alone === undefined) return undefined
    throw problem(
      `The user ${quote(userName)} of the kubeconfig ${content.files.join(delimiter)} has ${alone} without as: add the name of the user to impersonate, or remove ${alone}.`,
    )
  }
  return impersonationHeaders({
    user: user.as,
    ...(isStrings(user['as-groups']) && { groups: user['as-groups'] }),
    ...(typeof user['as-uid'] === 'string' && { uid: user['as-uid'] }),
    extra: Object.fromEntries(Object.entries(extra).filter((entry): entry is [string, string[]] => isStrings(entry[1]))),
  })
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || Object.keys(Object(value) as object).length === 0
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

async function readFileContent(file: string): Promise<JsonObject> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw problem(`The kubeconfig ${file} ${readProblem(error as NodeJS.ErrnoException)}: check --kubeconfig and KUBECONFIG.`, error)
  }
  const content = await parse(file, text)
  if (!isObject(content))
    throw problem(
      `The kubeconfig ${file} is ${content === null || content === undefined ? 'empty' : 'no kubeconfig'}: it must have clusters, users and contexts.`,
    )
  const wrong = wrongField(content)
  if (wrong !== undefined) throw problem(`The kubeconfig ${file} is invalid: ${wrong}.`)
  return content
}

async function parse(file: string, text: string): Promise<unknown> {
  // These modules are imported only here, because a process in a Pod usually reads no kubeconfig and does not need the modules.
  const [{ LineCounter, parseDocument }, { duplicateKeyOf }] = await Promise.all([import('yaml'), import('../api/yaml-duplicate-keys.ts')])
  const lines = new LineCounter()
  // The parser's error quotes lines of the file, and these lines may contain tokens. The thrown error therefore contains only the code and
  // the position of the parser's error.
  const invalid = (reason: string, offset?: number): ProreusError => {
    const { line, col } = offset === undefined ? { line: 0, col: 0 } : lines.linePos(offset)
    return problem(`The kubeconfig ${file} is not valid YAML: ${reason}${line > 0 ? ` at line ${line}, column ${col}` : ''}.`)
  }
  const document = parseDocument(text, { uniqueKeys: false, lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw invalid(error.code.toLowerCase().replaceAll('_', ' '), error.pos[0])
  const duplicate = duplicateKeyOf(document)
  if (duplicate !== undefined) throw invalid('duplicate key', duplicate.offset)
  try {
    return document.toJS()
  } catch {
    throw invalid('an alias is invalid')
  }
}

function readProblem(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'does not exist'
  return error.code === 'EISDIR' ? 'is a folder' : `cannot be read (${messageOf(error)})`
}

function entries(content: JsonObject, field: 'clusters' | 'users' | 'contexts'): Entry[] {
  const list = content[field]
  return Array.isArray(list) ? list.filter((entry): entry is Entry => isObject(entry) && typeof entry.name === 'string') : []
}

function merge(lists: readonly (readonly Entry[])[]): Entry[] {
  const merged = new Map<string, Entry>()
  for (const entry of lists.flat()) if (!merged.has(entry.name)) merged.set(entry.name, entry)
  return [...merged.values()]
}

function absoluteCluster(entry: Entry, file: string): Entry {
  const cluster = isObject(entry.cluster) ? entry.cluster : undefined
  return cluster === undefined ? entry : { ...entry, cluster: absolutePaths(cluster, ['certificate-authority'], file) }
}

function absoluteUser(entry: Entry, file: string): Entry {
  if (!isObject(entry.user)) return entry
  const user = absolutePaths(entry.user, ['client-certificate', 'client-key', 'tokenFile'], file)
  const exec = isObject(user.exec) ? user.exec : undefined
  // A command without a slash is found through PATH. A relative path with a slash is relative to the folder of the kubeconfig.
  if (exec !== undefined && typeof exec.command === 'string' && /[/\\]/.test(exec.command))
    user.exec = absolutePaths(exec, ['command'], file)
  // client-node reads a token file only through the auth provider `tokenFile`, which reads the file again every minute. As in kubectl,
  // `tokenFile` takes precedence over `token`.
  if (typeof user.tokenFile === 'string') {
    user['auth-provider'] = { name: 'tokenFile', config: { tokenFile: user.tokenFile } }
    delete user.token
  }
  // If an entry has both the data and a file, kubectl uses the data, whereas client-node would use the file.
  if (user['client-certificate-data']) delete user['client-certificate']
  if (user['client-key-data']) delete user['client-key']
  return { ...entry, user }
}

function absolutePaths(object: JsonObject, fields: readonly string[], file: string): JsonObject {
  const copy: JsonObject = { ...object }
  for (const field of fields) {
    const path: JsonValue | undefined = copy[field]
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) copy[field] = resolve(dirname(file), path)
  }
  return copy
}

function problem(message: string, cause?: unknown): ProreusError {
  return new ProreusError('PRO_KUBECONFIG', message, cause === undefined ? {} : { cause })
}
