/** Validation of `resources` of containers and Pods (k8s.io/kubernetes/pkg/apis/core/validation: validateResourceRequirements). */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notSupported, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { getOwn, isObject } from '../../../../api/json.ts'
import { qualifiedName, shortName } from '../../../../api/name-syntax.ts'
import { parseQuantity } from '../../../apimachinery/quantity.ts'
import { at, listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { quantityText } from '../quantity-text.ts'
import { osOf } from './pod-facts.ts'

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const countedResources = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
/** The resource names that kube-apiserver knows. Most of them are only for quotas. */
const standardResources = new Set([
  ...containerResources,
  ...[...containerResources, 'storage'].flatMap((name) =>
    name === 'storage' ? ['requests.storage'] : [`requests.${name}`, `limits.${name}`],
  ),
  ...countedResources,
  'storage',
])
const integerResources = new Set(countedResources)

const isHugePage = (name: string): boolean => name.startsWith('hugepages-')
/** Returns true for a name without a prefix, and for a name that contains `kubernetes.io/` (IsNativeResource). */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0
const amountOf = (value: JsonValue | undefined): number => parseQuantity(value) ?? 0

type NameRule = (name: string, path: string) => FieldError[]

/** Validates the name of any resource (k8s.io/kubernetes/pkg/apis/core/validation: validateResourceName). */
function validateName(name: string, path: string): FieldError[] {
  const errors = qualifiedName(name).map((detail) => invalid(path, name, detail))
  if (errors.length > 0 || name.includes('/') || standardResources.has(name) || isHugePage(name.replace(/^requests\./, ''))) return errors
  return [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

/** Validates the name of a resource of a container (k8s.io/kubernetes/pkg/apis/core/validation: validateContainerResourceName). */
export function validateContainerResource(name: string, path: string): FieldError[] {
  if (containerResources.has(name)) return []
  const errors = validateName(name, path)
  if (!name.includes('/')) return isHugePage(name) ? errors : [...errors, invalid(path, name, 'must be a standard resource for containers')]
  return isNative(name) || isExtended(name) ? errors : [...errors, invalid(path, name, "doesn't follow extended resource name standard")]
}

/** Validates the name of a resource of a Pod (k8s.io/kubernetes/pkg/apis/core/validation: validatePodResourceName). */
function validatePodResource(name: string, path: string): FieldError[] {
  const errors = validateName(name, path)
  if (errors.length > 0 || name === 'cpu' || name === 'memory' || isHugePage(name)) return errors
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])]
}

/** Validates the `resources` of a container. `claims` are the names in `resourceClaims` of the Pod. */
export function validateContainerResources(resources: JsonValue | undefined, path: string, claims: ReadonlySet<string>): FieldError[] {
  return validateRequirements(resources, path, claims, validateContainerResource)
}

function validateRequirements(
  resources: JsonValue | undefined,
  path: string,
  claims: ReadonlySet<string>,
  validateResource: NameRule,
): FieldError[] {
  if (!isObject(resources)) return []
  const [limits, requests] = [amountsOf(resources.limits), amountsOf(resources.requests)]
  const errors: FieldError[] = []
  for (const name of Object.keys(limits)) {
    const here = `${path}.limits[${name}]`
    errors.push(...validateResource(name, here), ...validateAmount(name, limits[name]!, here))
  }
  for (const [name, amount] of Object.entries(requests)) {
    const here = `${path}.requests[${name}]`
    errors.push(...validateResource(name, here), ...validateAmount(name, amount, here), ...validateRequest(name, amount, limits, path))
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePage) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  return [...errors, ...validateClaims(listAt(resources, 'claims'), `${path}.claims`, claims)]
}

/** Quantities, keyed by the name of the resource. */
type Amounts = Readonly<Record<string, JsonValue>>

function amountsOf(value: JsonValue | undefined): Amounts {
  return isObject(value) ? (value as Amounts) : {}
}

function validateAmount(name: string, amount: JsonValue, path: string): FieldError[] {
  const number = amountOf(amount)
  const errors = number < 0 ? [invalid(path, quantityText(amount), 'must be greater than or equal to 0')] : []
  if (isHugePage(name)) {
    const size = amountOf(name.slice('hugepages-'.length))
    const isDivisible = size > 0 && Number.isInteger(size) && Math.ceil(number) % size === 0
    const text = quantityText(amount)
    return isDivisible ? errors : [...errors, invalid(path, text, `${text} is not positive integer multiple of ${name}`)]
  }
  return !Number.isInteger(number) && (integerResources.has(name) || isExtended(name))
    ? [...errors, invalid(path, quantityText(amount), 'must be an integer')]
    : errors
}

/** Validates that a request does not exceed the limit. If a resource cannot be overcommitted, the request must equal the limit. */
function validateRequest(name: string, request: JsonValue, limits: Amounts, path: string): FieldError[] {
  const limit = getOwn(limits, name)
  const mayDiffer = isNative(name) && !isHugePage(name)
  if (limit === undefined) return mayDiffer ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  const [requested, allowed] = [amountOf(request), amountOf(limit)]
  if (requested === allowed || (mayDiffer && requested < allowed)) return []
  const rule = mayDiffer ? 'less than or equal' : 'equal'
  return [invalid(`${path}.requests`, quantityText(request), `must be ${rule} to ${name} limit of ${quantityText(limit)}`)]
}

/** Validates the `claims` of a container (k8s.io/kubernetes/pkg/apis/core/validation: validateResourceClaimNames). */
function validateClaims(list: readonly JsonValue[], path: string, claims: ReadonlySet<string>): FieldError[] {
  const taken = new Set<string>()
  return objects(list).flatMap(([claim, index]) => {
    const here = `${path}[${index}]`
    const [name, request] = [textAt(claim, 'name'), textAt(claim, 'request')]
    if (name === '') return [required(here)]
    const errors: FieldError[] = []
    if (taken.has(name)) errors.push(duplicate(here, name))
    else {
      const key = request === '' ? name : `${name}/${request}`
      if (request !== '') errors.push(...shortName(request).map((detail) => invalid(`${here}.request`, request, detail)))
      if (taken.has(key)) errors.push(duplicate(here, key))
      else if (request === '') for (const other of taken) if (other.startsWith(`${name}/`)) errors.push(duplicate(here, name))
      taken.add(key)
    }
    if (claims.has(name)) return errors
    const known = claims.size === 0 ? ' which is empty' : `: ${[...claims].sort().join(', ')}`
    const message = `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${known}`
    return [...errors, { path: here, reason: 'FieldValueNotFound', message }]
  })
}

/** Validates `resources` of a Pod spec (k8s.io/kubernetes/pkg/apis/core/validation: validatePodResources). */
export function validatePodResources(spec: JsonObject, specPath: string, claims: ReadonlySet<string>): FieldError[] {
  const { resources } = spec
  if (!isObject(resources)) return []
  const path = `${specPath}.resources`
  if (osOf(spec) === 'windows') return [forbidden(path, 'may not be set for a windows pod')]
  return [
    ...(listAt(resources, 'claims').length > 0 ? [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')] : []),
    ...validateRequirements(resources, path, claims, validatePodResource),
    ...validateShares(spec, resources, path),
  ]
}

/**
 * Validates that the requests and limits of the containers do not exceed the requests and limits of the Pod
 * (validatePodResourceConsistency).
 */
function validateShares(spec: JsonObject, resources: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [name, amount] of Object.entries(amountsOf(resources.requests))) {
    const total = totalOf(spec, 'requests', name)
    if (total <= amountOf(amount)) continue
    const detail = `must be greater than or equal to aggregate container requests of ${thousandths(total)}`
    errors.push(invalid(`${path}.requests[${name}]`, quantityText(amount), detail))
  }
  const limits = amountsOf(resources.limits)
  for (const [name, amount] of Object.entries(limits).filter(([name]) => isHugePage(name))) {
    const total = totalOf(spec, 'limits', name)
    if (total <= amountOf(amount)) continue
    const detail = `must be greater than or equal to aggregate container limits of ${thousandths(total)}`
    errors.push(invalid(`${path}.limits[${name}]`, quantityText(amount), detail))
  }
  for (const [container, index] of objects(listAt(spec, 'containers')))
    for (const [name, limit] of Object.entries(amountsOf(at(container, 'resources', 'limits')))) {
      const most = getOwn(limits, name)
      if (most === undefined || amountOf(limit) <= amountOf(most)) continue
      const detail = `must be less than or equal to pod limits of ${quantityText(most)}`
      errors.push(invalid(`${path}.containers[${index}][${name}].limits`, quantityText(limit), detail))
    }
  return errors
}

/** Formats a sum of quantities with at most three decimal places. */
function thousandths(amount: number): string {
  return quantityText(`${Math.round(amount * 1000)}m`)
}

/**
 * Returns the largest amount of a resource that the containers need at the same time (k8s.io/component-helpers/resource:
 * AggregateContainerRequests).
 */
function totalOf(spec: JsonObject, kind: 'requests' | 'limits', name: string): number {
  const amountIn = (container: JsonObject): number => amountOf(at(container, 'resources', kind, name))
  let total = objects(listAt(spec, 'containers')).reduce((sum, [container]) => sum + amountIn(container), 0)
  let [sidecars, starting] = [0, 0]
  for (const [container] of objects(listAt(spec, 'initContainers'))) {
    const amount = amountIn(container)
    starting = Math.max(starting, sidecars + amount)
    if (container.restartPolicy !== 'Always') continue
    sidecars += amount
    total += amount
  }
  return Math.max(total, starting)
}
