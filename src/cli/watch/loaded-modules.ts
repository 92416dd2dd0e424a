/** Reports the modules that a process loads. */
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Calls `report` with the path of each module before this thread loads the module for the first time. Modules in `node_modules` are not
 * reported. If an imported file does not exist, the path of the missing file is reported, too.
 */
export function onLoad(report: (path: string) => void): void {
  const reported = new Set<string>()
  const onUrl = (url: string): void => {
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return
    const path = fileURLToPath(url)
    if (reported.has(path)) return
    reported.add(path)
    report(path)
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        const resolved = nextResolve(specifier, context)
        onUrl(resolved.url)
        return resolved
      } catch (error) {
        if (/^(\.{0,2}\/|file:)/.test(specifier) && URL.canParse(specifier, context.parentURL))
          onUrl(new URL(specifier, context.parentURL).href)
        throw error
      }
    },
  })
}
