/** Checks that an AdmissionReview was sent to the path of the right webhook. */
import { groupKindOf, groupResourceOf } from '../../api/group-version-kind.ts'
import type { CombinedWebhook } from '../definition/combine.ts'
import type { AdmissionRequest } from './admission-review.ts'

/**
 * A function that checks whether an admission request is intended for a certain webhook. Returns undefined if the request is intended for
 * this webhook, otherwise an error message.
 */
export type Mismatch = (request: AdmissionRequest) => string | undefined

/**
 * Returns a function that checks whether a request is intended for the webhook with this type, version and subresource.
 *
 * @param path the URL path of the webhook. The path occurs only in the error message.
 */
export function mismatchAt(
  path: string,
  { type, version, subresource }: Pick<CombinedWebhook, 'type' | 'version' | 'subresource'>,
): Mismatch {
  const { group, kind, plural } = type
  const isAny = kind === '*'
  if (subresource === '') {
    return ({ kind: sent }) =>
      isAny || (sent.kind === kind && sent.group === group && sent.version === version)
        ? undefined
        : `${path} reviews ${groupKindOf(type)} in version ${version}, and was sent ${groupKindOf(sent)} in version ${sent.version}: the webhook configuration names the wrong path.`
  }
  return ({ resource, subResource }) => {
    const isResource = isAny || (resource.resource === plural && resource.group === group && resource.version === version)
    if (isResource && subResource === subresource) return undefined
    const wanted = `${groupResourceOf(type)}/${subresource}`
    const sent = `${groupResourceOf({ group: resource.group, plural: resource.resource })}${subResource === '' ? '' : `/${subResource}`}`
    return `${path} reviews ${wanted} in version ${version}, and was sent ${sent} in version ${resource.version}: the webhook configuration names the wrong path.`
  }
}
