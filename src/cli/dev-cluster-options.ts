/** Parses the flags of `proreus dev` that configure the nodes, the images, the delays of simulated Pods, and the controllers. */
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { ProreusError } from '../api/errors.ts'
import { labelValue, dns1123Subdomain, qualifiedName } from '../api/name-syntax.ts'
import type { ControllerSelection } from '../devcluster/controllers/controller-selection.ts'
import type { SimulationOptions } from '../devcluster/controllers/kubelet/simulated/simulation.ts'
import type { NodeOptions, NodeTaint } from '../devcluster/controllers/nodes/node.ts'
import { parseDuration, parseList } from './configuration.ts'

/** Maximum number of nodes. The number is limited, because the scheduler compares each Pod with each node. */
const maxNodes = 1000
const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] satisfies NodeTaint['effect'][]

/** Parses a number of nodes. */
export function parseNodeCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count > maxNodes) throw new InvalidArgumentError(`a number from 0 to ${maxNodes}.`)
  return count
}

/**
 * Parses the name, labels and taints of a node, such as `gpu-1,disk=ssd,gpu=true:NoSchedule`. Labels and taints have the notation of
 * `kubectl label` and `kubectl taint`.
 */
export function parseNode(text: string): NodeOptions {
  const [name = '', ...parts] = parseList(text)
  refuse(dns1123Subdomain(name), `the name ${JSON.stringify(name)}`)
  const labels: Record<string, string> = {}
  const taints: NodeTaint[] = []
  for (const part of parts) {
    const [, key = '', value = '', effect] = /^([^=:]+)(?:=([^:]*))?(?::(.*))?$/.exec(part) ?? []
    refuse([...qualifiedName(key), ...labelValue(value)], part)
    if (effect === undefined) labels[key] = value
    else taints.push({ key, ...(value !== '' && { value }), effect: effectOf(effect, part) })
  }
  return { name, labels, taints }
}

function effectOf(text: string, part: string): NodeTaint['effect'] {
  if (!effects.includes(text)) throw new InvalidArgumentError(`${part}: the effect of a taint is one of ${effects.join(', ')}.`)
  return text as NodeTaint['effect']
}

function refuse(problems: readonly string[], what: string): void {
  if (problems.length > 0) throw new InvalidArgumentError(`${what}: ${problems.join('; ')}.`)
}

/** Parses an image and its folder, such as `postgres:15=./images/postgres`. Returns `images` with this image added. */
export function parseImage(text: string, images: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const end = text.lastIndexOf('=')
  if (end < 1 || end === text.length - 1) throw new InvalidArgumentError(`${text}: it is written as NAME=FOLDER.`)
  return { ...images, [text.slice(0, end)]: resolve(text.slice(end + 1)) }
}

const delays: Readonly<Record<string, keyof SimulationOptions>> = {
  schedule: 'scheduleMs',
  pull: 'pullMs',
  start: 'startMs',
  ready: 'readyMs',
  stop: 'stopMs',
  'node-grace': 'nodeGraceMs',
}

/** Parses the delays of the simulation, such as `pull=2s,ready=500ms`. */
export function parseDelays(text: string): SimulationOptions {
  const entries = parseList(text).map((part) => {
    const [name = '', duration = ''] = part.split('=')
    const option = Object.hasOwn(delays, name) ? delays[name] : undefined
    if (option === undefined)
      throw new InvalidArgumentError(`${part}: it is written as STEP=DURATION; the steps are ${Object.keys(delays).join(', ')}.`)
    return [option, parseDuration(duration)] as const
  })
  return Object.fromEntries(entries)
}

/**
 * Parses a selection of controllers, such as `*,-job-controller`. With `none`, the cluster has no controllers, no scheduler and no nodes.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a controller is unknown.
 */
export async function parseControllers(text: string): Promise<ControllerSelection> {
  // The module is imported here, and not at the beginning of the file, because the other commands do not need the embedded cluster.
  const { isControllerSelection } = await import('../devcluster/controllers/controller-selection.ts')
  const selection = text.trim() === 'none' ? false : parseList(text)
  const problems = isControllerSelection(selection, '--controllers')
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `${problems.join('; ')}.`)
  return selection as ControllerSelection
}
