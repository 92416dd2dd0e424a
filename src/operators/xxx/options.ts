/**
 * The options of the Xxx operator. They are environment variables and not fields of an Xxx. With fields, every user who may create an Xxx
 * could give the Pods access to the nodes.
 */
import { ProreusError, validateLabels } from 'proreus'

/** The volume to which the programs are copied. */
export type Output =
  | { readonly kind: 'emptyDir' }
  | { readonly kind: 'claim'; readonly name: string }
  | {
      readonly kind: 'hostPath'
      readonly path: string
      /** The namespaces whose Xxxes may write to the node. */
      readonly namespaces: readonly string[]
    }

export interface XxxOptions {
  readonly image: string
  readonly output: Output
  readonly nodeSelector: Readonly<Record<string, string>>
}

export const defaultOptions: XxxOptions = { image: 'golang:1.13', output: { kind: 'emptyDir' }, nodeSelector: {} }

type Environment = Readonly<Record<string, string | undefined>>

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const subdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** An absolute path without empty elements and without the elements `.` and `..`. */
const folder = /^(\/(?!\.\.?(\/|$))[A-Za-z0-9._-]+)+$/

/**
 * Reads the options from XXX_BUILD_IMAGE, XXX_OUTPUT, XXX_OUTPUT_NAMESPACES and XXX_NODE_SELECTOR. An empty variable counts as unset.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a variable is invalid.
 */
export function optionsFrom(env: Environment): XxxOptions {
  return {
    image: imageIn(env) ?? defaultOptions.image,
    output: outputIn(env),
    nodeSelector: nodeSelectorIn(env),
  }
}

function imageIn(env: Environment): string | undefined {
  const image = env['XXX_BUILD_IMAGE'] || undefined
  if (image !== undefined && /[^!-~]/.test(image)) refuse('XXX_BUILD_IMAGE', image, 'the name of an image, e.g. golang:1.13')
  return image
}

function outputIn(env: Environment): Output {
  const text = env['XXX_OUTPUT'] || 'emptyDir'
  const namespaces = namespacesIn(env)
  const [, kind, value = ''] = /^(emptyDir|pvc|hostPath)(?::(.*))?$/s.exec(text) ?? []
  if (kind === 'hostPath' && folder.test(value)) {
    if (namespaces.length > 0) return { kind, path: value, namespaces }
    refuse('XXX_OUTPUT_NAMESPACES', '', `the namespaces whose Xxxes may write to ${value} of their node, e.g. builds,tools`)
  }
  if (namespaces.length > 0) refuse('XXX_OUTPUT', text, 'hostPath:FOLDER, because XXX_OUTPUT_NAMESPACES is set')
  if (text === 'emptyDir') return { kind: 'emptyDir' }
  if (kind === 'pvc' && subdomain.test(value)) return { kind: 'claim', name: value }
  return refuse('XXX_OUTPUT', text, 'emptyDir, pvc:CLAIM or hostPath:FOLDER, e.g. pvc:programs or hostPath:/opt')
}

function namespacesIn(env: Environment): readonly string[] {
  const namespaces = itemsOf(env['XXX_OUTPUT_NAMESPACES'])
  for (const namespace of namespaces)
    if (!label.test(namespace)) refuse('XXX_OUTPUT_NAMESPACES', namespace, 'names of namespaces, separated by commas')
  return [...new Set(namespaces)]
}

function nodeSelectorIn(env: Environment): Readonly<Record<string, string>> {
  const name = 'XXX_NODE_SELECTOR'
  const pairs = itemsOf(env[name]).map((item): [string, string] => {
    const at = item.indexOf('=')
    return at < 0 ? refuse(name, item, 'labels of nodes, e.g. disk=ssd,kubernetes.io/os=linux') : [item.slice(0, at), item.slice(at + 1)]
  })
  const labels = Object.fromEntries(pairs)
  if (Object.keys(labels).length < pairs.length) refuse(name, env[name] ?? '', 'each label only once')
  const [problem] = validateLabels(labels, name)
  if (problem !== undefined) throw new ProreusError('PRO_CONFIG_INVALID', `The environment variable ${name}: ${problem.message}.`)
  return labels
}

function itemsOf(list = ''): readonly string[] {
  return list === '' ? [] : list.split(',').map((item) => item.trim())
}

function refuse(name: string, found: string, expected: string): never {
  throw new ProreusError('PRO_CONFIG_INVALID', `The environment variable ${name} is ${JSON.stringify(found)}. Expected: ${expected}.`)
}
