/** The paths that webhooks are served under, those of kubebuilder. */
import type { GroupVersionKind } from '../api/group-version-kind.ts'

/** What is served under one path. */
interface PathTarget extends GroupVersionKind {
  /** Default: the object itself. */
  readonly subresource?: string
  /** Tells apart webhooks of one type. */
  readonly name?: string
}

/** Each segment is a DNS subdomain, for the API server takes no others: a dot and a slash stand where no group, version or kind has one. */
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

/** Where objects of every kind are converted. */
export const conversionPath = '/convert'
