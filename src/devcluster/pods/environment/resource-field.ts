/**
 * Returns the values of `resourceFieldRef` in environment variables and in files of volumes. A `resourceFieldRef` refers to a resource
 * request or a resource limit of a container (k8s.io/kubernetes/pkg/api/v1/resource: helpers.go).
 */
import { parseQuantity } from '../../apimachinery/quantity.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { ReadonlyContainer, ResourceList } from './sources.ts'
import { entryOf } from './sources.ts'

export interface ResourceSelector {
  /** The name of the container. Default for a variable: the container that has the variable. For a file, the name is required. */
  readonly containerName?: string
  /** For example `limits.cpu`. */
  readonly resource: string
  /** The unit of the result. Default: 1. */
  readonly divisor?: string
}

/**
 * The resources whose limit has a default. If a `resourceFieldRef` refers to the limit of a container, and the container does not set this
 * limit, the default is used:
 *
 * - In an environment variable, the default is the limit of the Pod as a whole. If the Pod has no such limit, the default is the
 *   allocatable amount of the node. `resourceVariable` describes an exception for init containers.
 * - In a file of a volume, the default is the allocatable amount of the node.
 */
const defaulted: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])
/**
 * The resources for which the spec of a Pod can set a limit for the whole Pod (k8s.io/component-helpers/resource:
 * SupportedPodLevelResources).
 */
const podLevel: ReadonlySet<string> = new Set(['cpu', 'memory'])
const maxInt64 = 9_223_372_036_854_775_807n

/**
 * Returns the value of an environment variable with a `resourceFieldRef` (k8s.io/kubernetes/pkg/kubelet: containerResourceRuntimeValue). If
 * `containerName` names an init container, a missing limit has no default, and the value is 0.
 *
 * @throws {Error} when the container or the resource is unknown. The message is that of the kubelet.
 */
export function resourceVariable(
  pod: ReadonlyPod,
  container: ReadonlyContainer,
  selector: ResourceSelector,
  allocatable: ResourceList = {},
): string {
  const { containerName = '' } = selector
  if (containerName === '') return resourceValue(container, selector, limitsOfPod(pod, allocatable))
  const found = findContainer(pod, containerName)
  const isInit = pod.spec?.containers.every(({ name }) => name !== containerName) === true
  return resourceValue(found, selector, isInit ? {} : limitsOfPod(pod, allocatable))
}

/**
 * Returns the content of a file with a `resourceFieldRef` in a downward API volume (k8s.io/kubernetes/pkg/api/v1/resource:
 * ExtractResourceValueByContainerNameAndNodeAllocatable).
 *
 * @throws {Error} when the container or the resource is unknown. The message is that of the kubelet.
 */
export function resourceText(pod: ReadonlyPod, selector: ResourceSelector, allocatable: ResourceList = {}): string {
  return resourceValue(findContainer(pod, selector.containerName ?? ''), selector, allocatable)
}

/**
 * Returns the allocatable resources of the node. If the Pod as a whole has a limit for a resource, this limit replaces the amount of the
 * node (k8s.io/kubernetes/pkg/kubelet: defaultPodLimitsForDownwardAPI).
 */
function limitsOfPod({ spec }: ReadonlyPod, allocatable: ResourceList): ResourceList {
  const own = Object.entries(spec?.resources?.limits ?? {}).filter(
    ([name, quantity]) => podLevel.has(name) && Object.hasOwn(allocatable, name) && amountOf(quantity) !== 0,
  )
  return { ...allocatable, ...Object.fromEntries(own) }
}

function findContainer({ spec }: ReadonlyPod, name: string): ReadonlyContainer {
  const found = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((one) => one.name === name)
  if (found === undefined) throw new Error(`container ${name} not found`)
  return found
}

function resourceValue({ resources }: ReadonlyContainer, { resource, divisor = '' }: ResourceSelector, defaults: ResourceList): string {
  const [, list = '', name = ''] = /^(limits|requests)\.(.*)$/s.exec(resource) ?? []
  if (!defaulted.has(name) && !name.startsWith('hugepages-')) throw new Error(`unsupported container resource : ${resource}`)
  let amount = amountOf(entryOf(list === 'limits' ? resources?.limits : resources?.requests, name))
  if (amount === 0 && list === 'limits' && defaulted.has(name)) amount = amountOf(entryOf(defaults, name))
  const unit = amountOf(divisor) || 1
  // Before the division, the amount and the divisor are rounded up. CPUs are rounded up to thousandths, and all other resources to
  // integers.
  const scale = name === 'cpu' ? 1000 : 1
  return integerText(Math.ceil(roundedUp(amount * scale) / roundedUp(unit * scale)))
}

function amountOf(quantity: string | undefined): number {
  return parseQuantity(quantity) ?? 0
}

/** Rounds up after removing floating-point errors. For example, 9 * 0.001 * 1000 is 9.000000000000002, for which 9 is returned. */
function roundedUp(value: number): number {
  const nearest = Math.round(value)
  return Math.abs(value - nearest) <= 2 * Number.EPSILON * value ? nearest : Math.ceil(value)
}

/** Formats an integer. If the integer is greater than the greatest int64, the greatest int64 is formatted instead. */
function integerText(value: number): string {
  if (!Number.isFinite(value)) return String(maxInt64)
  const integer = BigInt(value)
  return String(integer > maxInt64 ? maxInt64 : integer)
}
