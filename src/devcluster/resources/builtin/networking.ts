/** The built-in types Ingress and NetworkPolicy. */
import { isIP } from 'node:net'
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1123Label, dns1123Subdomain } from '../../../api/name-syntax.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, orNone, textColumn } from '../columns.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { objects, portNameErrors, validatePort, validatePortOrName } from './field-checks.ts'
import { validateSelector } from './webhook-validation.ts'
import { formatSelector } from './workloads.ts'

const group = 'networking.k8s.io'

/** Maximum number of hosts in a table cell. */
const shownHosts = 3

/**
 * Returns the first three hosts of an Ingress. If more rules follow, the text also contains the number of rules minus three, as in `a,b,c +
 * 2 more...` (k8s.io/kubernetes/pkg/printers/internalversion: formatHosts).
 */
function hosts(ingress: JsonObject): string {
  const rules = listAt(ingress, 'spec', 'rules')
  const shown: string[] = []
  for (const rule of rules) {
    if (shown.length === shownHosts) return `${shown.join(',')} + ${rules.length - shownHosts} more...`
    const host = textAt(rule, 'host')
    if (host !== '') shown.push(host)
  }
  return shown.length === 0 ? '*' : shown.join(',')
}

function address(ingress: JsonObject): string {
  const points = listAt(ingress, 'status', 'loadBalancer', 'ingress').map((point) => textAt(point, 'ip') || textAt(point, 'hostname'))
  return [...new Set(points)].sort().join(',')
}

const ingresses = builtinResource({
  group,
  kind: 'Ingress',
  plural: 'ingresses',
  shortNames: ['ing'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Class', (ingress) => orNone(textAt(ingress, 'spec', 'ingressClassName'))),
    textColumn('Hosts', hosts),
    textColumn('Address', address),
    textColumn('Ports', (ingress) => (listAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
    ageColumn,
  ],
  strategy: {
    generation: true,
    validate: (ingress, _old, subresource) => (subresource === 'status' ? [] : validateIngress(ingress)),
  },
})

function validateIngress(ingress: JsonObject): FieldError[] {
  const rules = listAt(ingress, 'spec', 'rules')
  const backend = at(ingress, 'spec', 'defaultBackend')
  const name = at(ingress, 'spec', 'ingressClassName')
  return [
    ...(rules.length === 0 && !isObject(backend) ? [invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')] : []),
    ...(isObject(backend) ? validateBackend(backend, 'spec.defaultBackend') : []),
    ...objects(rules).flatMap(([rule, index]) => validateRule(rule, `spec.rules[${index}]`)),
    ...(typeof name !== 'string' ? [] : dns1123Subdomain(name).map((detail) => invalid('spec.ingressClassName', name, detail))),
  ]
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const host = textAt(rule, 'host')
  const errors: FieldError[] = []
  if (isIP(host) !== 0) errors.push(invalid(`${path}.host`, host, 'must be a DNS name, not an IP address'))
  if (host !== '') errors.push(...dns1123Subdomain(host.replace(/^\*\./, '')).map((detail) => invalid(`${path}.host`, host, detail)))
  if (!isObject(rule.http)) return errors
  const paths = listAt(rule, 'http', 'paths')
  if (paths.length === 0) errors.push(required(`${path}.http.paths`))
  return [...errors, ...objects(paths).flatMap(([entry, index]) => validatePath(entry, `${path}.http.paths[${index}]`))]
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const wrongParts = ['//', '/./', '/../', '%2f', '%2F']
const wrongEnds = ['/..', '/.']

function validatePath(entry: JsonObject, path: string): FieldError[] {
  const [type, text] = [at(entry, 'pathType'), textAt(entry, 'path')]
  if (typeof type !== 'string') return [required(`${path}.pathType`, 'pathType must be specified')]
  const errors: FieldError[] = []
  const refuse = (detail: string): number => errors.push(invalid(`${path}.path`, text, detail))
  const loose = type === 'ImplementationSpecific'
  if (!pathTypes.includes(type)) errors.push(notSupported(`${path}.pathType`, type, pathTypes))
  else {
    if (!text.startsWith('/') && !(loose && text === '')) refuse('must be an absolute path')
    if (!loose) {
      for (const part of wrongParts) if (text.includes(part)) refuse(`must not contain '${part}'`)
      for (const end of wrongEnds) if (text.endsWith(end)) refuse(`cannot end with '${end}'`)
    }
  }
  return [...errors, ...validateBackend(entry.backend, `${path}.backend`)]
}

function validateBackend(backend: JsonValue | undefined, path: string): FieldError[] {
  const [service, resource] = [at(backend, 'service'), at(backend, 'resource')]
  if (isObject(service) && isObject(resource)) return [invalid(path, '', 'cannot set both resource and service backends')]
  if (isObject(resource)) return []
  if (!isObject(service)) return [invalid(path, '', 'resource or service backend is required')]
  const [name, portName, number] = [textAt(service, 'name'), textAt(service, 'port', 'name'), numberAt(service, 'port', 'number')]
  const errors =
    name === '' ? [required(`${path}.service.name`)] : dns1123Label(name).map((detail) => invalid(`${path}.service.name`, name, detail))
  if (portName !== '' && number !== 0) errors.push(invalid(path, '', 'cannot set both port name & port number'))
  else if (portName !== '') errors.push(...portNameErrors(portName).map((detail) => invalid(`${path}.service.port.name`, portName, detail)))
  else if (number !== 0) errors.push(...validatePort(number, `${path}.service.port.number`))
  else errors.push(required(path, 'port name or number is required'))
  return errors
}

const directions = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const

const networkPolicies = builtinResource({
  group,
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  columns: [nameColumn, textColumn('Pod-Selector', (object) => formatSelector(at(object, 'spec', 'podSelector'))), ageColumn],
  strategy: {
    generation: true,
    default: (policy) =>
      changeObjectField(policy, 'spec', (spec) => {
        const filled = directions.reduce(
          (current, [direction]) =>
            changeItems(current, direction, (rule) => changeItems(rule, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }))),
          spec,
        )
        if (listAt(filled, 'policyTypes').length > 0) return filled
        return { ...filled, policyTypes: listAt(filled, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] }
      }),
    validate: (policy) => validatePolicy(policy.spec),
  },
})

function validatePolicy(spec: JsonValue | undefined): FieldError[] {
  const selector = at(spec, 'podSelector')
  const errors = isObject(selector) ? validateSelector(selector, 'spec.podSelector') : []
  for (const [direction, peers] of directions) {
    for (const [index, rule] of listAt(spec, direction).entries()) {
      const here = `spec.${direction}[${index}]`
      for (const [port, at] of objects(listAt(rule, 'ports'))) errors.push(...validatePolicyPort(port, `${here}.ports[${at}]`))
      for (const [peer, at] of objects(listAt(rule, peers))) errors.push(...validatePeer(peer, `${here}.${peers}[${at}]`))
    }
  }
  const types = ['Ingress', 'Egress']
  const given = listAt(spec, 'policyTypes')
  if (given.length > types.length) return [...errors, invalid('spec.policyTypes', [...given], 'may not specify more than two policyTypes')]
  for (const [index, type] of listAt(spec, 'policyTypes').entries())
    if (!types.includes(String(type))) errors.push(notSupported(`spec.policyTypes[${index}]`, type, types))
  return errors
}

function validatePolicyPort(port: JsonObject, path: string): FieldError[] {
  const protocols = ['TCP', 'UDP', 'SCTP']
  const protocol = textAt(port, 'protocol')
  return [
    ...(protocols.includes(protocol) ? [] : [notSupported(`${path}.protocol`, protocol, protocols)]),
    ...(port.port === undefined || port.port === null ? [] : validatePortOrName(port.port, `${path}.port`)),
    ...(typeof port.endPort === 'number' ? validateEndPort(port, path) : []),
  ]
}

function validateEndPort({ port, endPort }: JsonObject, path: string): FieldError[] {
  if (typeof port === 'number') return []
  const why = port === undefined || port === null ? '`port` is not specified' : '`port` is non-numeric'
  return [invalid(`${path}.endPort`, endPort, `may not be specified when ${why}`)]
}

function validatePeer(peer: JsonObject, path: string): FieldError[] {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => isObject(peer[field]))
  const errors = given
    .filter((field) => field !== 'ipBlock')
    .flatMap((field) => validateSelector(peer[field] as JsonObject, `${path}.${field}`))
  if (given.length === 0) errors.push(required(path, 'must specify a peer'))
  if (given.length > 1 && given.includes('ipBlock'))
    errors.push({ path, reason: 'FieldValueForbidden', message: 'Forbidden: may not specify both ipBlock and another peer' })
  return errors
}

export const networkResources: readonly ResourceInfo[] = [ingresses, networkPolicies]
