import { defineOperator, sleep } from 'proreus'
import { site } from './built-in-types/site.ts'

let lastImport = Date.now()

export const operator = defineOperator({
  name: 'site',
  kinds: [site],
  runnables: [
    {
      name: 'import',
      async run({ client, clock, logger, signal }) {
        while (!signal.aborted) {
          const { items } = await client.list(site, { signal })
          logger.info({ sites: items.length }, 'imported')
          lastImport = Date.now()
          await sleep(clock, 60_000, signal)
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
