/** Validation of the DNS configuration, host names and host ports of Pods (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, required, tooLong } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { longName } from '../../../../api/name-syntax.ts'
import { listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { validateAddress } from '../ip-addresses.ts'

/**
 * The maximum number of nameservers, the maximum number of search paths, and the maximum number of characters in all search paths together
 * (MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars).
 */
const [maxNameservers, maxSearches, maxSearchCharacters] = [3, 32, 2048]

/** Validates `dnsConfig` of a Pod spec (validatePodDNSConfig). */
export function validateDnsConfig(spec: JsonObject, path: string): FieldError[] {
  const { dnsConfig: config } = spec
  const nameservers = listAt(config, 'nameservers')
  if (spec.dnsPolicy === 'None') {
    if (!isObject(config)) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if (nameservers.length === 0)
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
  }
  if (!isObject(config)) return []
  const searches = listAt(config, 'searches')
  return [
    ...(nameservers.length > maxNameservers
      ? [invalid(`${path}.nameservers`, nameservers, `must not have more than ${maxNameservers} nameservers`)]
      : []),
    ...nameservers.flatMap((address, index) => validateAddress(String(address), `${path}.nameservers[${index}]`)),
    ...validateSearches(searches, `${path}.searches`),
    ...listAt(config, 'options').flatMap((option, index) =>
      textAt(option, 'name') === '' ? [required(`${path}.options[${index}]`, 'must not be empty')] : [],
    ),
  ]
}

const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const domain = new RegExp(`^${label}(\\.${label})*$`)
const noDomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an " +
  `alphanumeric character (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`
const maxDomainLength = 253

function validateSearches(searches: readonly JsonValue[], path: string): FieldError[] {
  const errors: FieldError[] = []
  if (searches.length > maxSearches) errors.push(invalid(path, searches, `must not have more than ${maxSearches} search paths`))
  if (searches.join(' ').length > maxSearchCharacters)
    errors.push(invalid(path, searches, `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`))
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue
    const name = String(search).replace(/\.$/, '')
    if (name.length > maxDomainLength) errors.push(invalid(`${path}[${index}]`, name, `must be no more than ${maxDomainLength} characters`))
    if (!domain.test(name)) errors.push(invalid(`${path}[${index}]`, name, noDomain))
  }
  return errors
}

/** Validates `hostAliases` of a Pod spec (ValidateHostAliases). */
export function validateHostAliases(aliases: readonly JsonValue[], path: string): FieldError[] {
  return objects(aliases).flatMap(([alias, index]) => {
    const here = `${path}[${index}]`
    return [
      ...validateAddress(textAt(alias, 'ip'), `${here}.ip`),
      ...listAt(alias, 'hostnames').flatMap((name, place) =>
        longName(String(name)).map((detail) => invalid(`${here}.hostnames[${place}]`, name, detail)),
      ),
    ]
  })
}

const maxHostnameLength = 64

/** Validates `hostnameOverride` (validatePodHostName). */
export function validateHostnameOverride(spec: JsonObject, path: string): FieldError[] {
  const { hostnameOverride: name } = spec
  if (typeof name !== 'string') return []
  return [
    ...(spec.setHostnameAsFQDN === true ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(spec.hostNetwork === true ? [forbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(Buffer.byteLength(name) > maxHostnameLength ? [tooLong(path, maxHostnameLength)] : []),
    ...longName(name).map((detail) => invalid(path, name, detail)),
  ]
}

/**
 * If `hostNetwork` is true, validates that each host port equals its container port (validatePodHostNetworkDeps). In a Pod template, a host
 * port can be missing.
 */
export function validateHostNetworkPorts(spec: JsonObject, path: string, isPod: boolean): FieldError[] {
  if (spec.hostNetwork !== true) return []
  return objects(listAt(spec, 'containers')).flatMap(([container, index]) =>
    objects(listAt(container, 'ports')).flatMap(([port, place]) => {
      const hostPort = numberAt(port, 'hostPort')
      return hostPort === numberAt(port, 'containerPort') || (!isPod && hostPort === 0)
        ? []
        : [
            invalid(
              `${path}.containers[${index}].ports[${place}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
    }),
  )
}
