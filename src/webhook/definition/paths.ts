/** The paths of webhooks, in kubebuilder's format. */
import type { GroupVersionKind } from '../../api/group-version-kind.ts'

/** The type, subresource and name of a webhook. */
interface PathTarget extends GroupVersionKind {
  /** Default: the object itself. */
  readonly subresource?: string
  /** Distinguishes several webhooks of one type. */
  readonly name?: string
}

/**
 * The API server requires that each segment is a DNS subdomain. A slash precedes the subresource and a dot the name, because type and
 * subresource contain neither.
 */
function pathOf(verb: 'mutate' | 'validate', { group, version, kind, subresource = '', name = '' }: PathTarget): string {
  const type = kind === '*' ? 'any' : `${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
  return `/${verb}-${type}${subresource === '' ? '' : `/${subresource}`}${name === '' ? '' : `.${name}`}`
}

/** `/mutate-apps-example-com-v1-mykind`; `/mutate--v1-pod` for the core group, `/mutate--v1-pod/status` for a subresource. */
export function mutatePath(target: PathTarget): string {
  return pathOf('mutate', target)
}

/** `/validate-apps-example-com-v1-mykind`; `/validate--v1-pod/exec` for a subresource. */
export function validatePath(target: PathTarget): string {
  return pathOf('validate', target)
}

/** The path for conversions of all kinds. */
export const conversionPath = '/convert'
