import { defineConversion, defineKind, defineOperator, Type } from 'proreus'

const backup = defineKind({
  group: 'example.com',
  kind: 'Backup',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({
        volume: Type.String(),
        schedule: Type.Object({ minute: Type.String(), hour: Type.String() }),
        keep: Type.Integer({ minimum: 1, maximum: 100, default: 7 }),
      }),
      status: Type.Object({ taken: Type.Integer() }),
    },
    {
      name: 'v1beta1',
      deprecationWarning: 'example.com/v1beta1 Backup is deprecated: use example.com/v1',
      spec: Type.Object({ volume: Type.String(), cron: Type.String({ pattern: '^\\S+ \\S+$' }) }),
      status: Type.Object({ taken: Type.Integer() }),
    },
  ],
})

export const operator = defineOperator({
  name: 'backup',
  kinds: [backup],
  conversions: [
    defineConversion(backup, {
      converters: {
        v1beta1: {
          toHub({ spec: { volume, cron } }) {
            const [minute = '*', hour = '*'] = cron.split(' ')
            return { spec: { volume, schedule: { minute, hour } } }
          },
          fromHub({ spec: { volume, schedule } }) {
            return { spec: { volume, cron: `${schedule.minute} ${schedule.hour}` } }
          },
        },
      },
    }),
  ],
})
