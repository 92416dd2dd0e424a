import { defineOperator } from 'proreus'
import { setTimeout } from 'node:timers/promises'
import { site } from './built-in-types/site.ts'

let lastImport = Date.now()

export const operator = defineOperator({
  name: 'site',
  kinds: [site],
  runnables: [
    {
      name: 'import',
      async run({ client, logger, signal }) {
        while (!signal.aborted) {
          const { items } = await client.list(site, { signal })
          logger.info({ sites: items.length }, 'imported')
          lastImport = Date.now()
          await setTimeout(60_000, undefined, { signal })
        }
      },
    },
  ],
  checks: {
    readyz: [
      {
        name: 'import',
        decides: false,
        problem: () => (Date.now() - lastImport > 300_000 ? 'nothing was imported for five minutes' : undefined),
      },
    ],
  },
})
