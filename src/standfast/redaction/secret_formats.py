"""The formats of secrets, as data: what a key begins with, what follows, and how much of it.

A line of `PREFIXED` is a name, the literals that a key may begin with, the alphabet of the rest and
its least length. A line of `NAMED` is a name, the words beside which such a key counts (there is
too little in it that tells it from any other string), its alphabet, its exact lengths and, if there
is something, what it begins with.
`docs/reference/secrets.md` is made from here; `redactor.py` has the literals once more, cut
short, since hooks may not load this.
"""

from typing import NamedTuple

# What a key is made of, by one letter.
ALPHABETS = {
    "h": "[0-9a-f]",
    "H": "[0-9A-Fa-f]",
    "l": "[a-z0-9]",
    "u": "[A-Z0-9]",
    "a": "[A-Za-z0-9]",
    "w": r"[A-Za-z0-9_\-]",
    "d": r"[A-Za-z0-9_\-.=]",
    "b": r"[A-Za-z0-9+/=_\-]",
    "i": r"[0-9a-fA-F\-]",
}


class Format(NamedTuple):
    """One format: a key is a literal and so many characters, or so many beside one of the words."""

    name: str
    literals: tuple[str, ...]
    words: tuple[str, ...]
    alphabet: str
    lengths: tuple[int, ...]
    beginnings: tuple[str, ...] = ("",)


# In this order: where two fit, the first is the more telling one.
PREFIXED = """
openai-project-key sk-proj-|sk-svcacct-|sk-admin- w 16
openrouter-key sk-or- w 16
langfuse-key sk-lf-|pk-lf- i 30
helicone-key sk-helicone- w 20
anyscale-key esecret_ a 20
groq-key gsk_ a 20
xai-key xai- a 40
perplexity-key pplx- a 30
nvidia-key nvapi- w 40
langsmith-key lsv2_pt_|lsv2_sk_ w 30
tavily-key tvly- w 20
together-key tgp_v1_ w 30
fireworks-key fw_ a 22
cerebras-key csk- l 40
voyage-key pa- w 40
jina-key jina_ a 40
firecrawl-key fc- h 32
browserbase-key bb_live_|bb_test_ w 20
e2b-key e2b_ h 40
pinecone-key pcsk_ w 40
friendli-key flp_ a 30
mem0-key m0- a 36
elevenlabs-key sk_ h 48
huggingface-token hf_ a 30
huggingface-org-token api_org_ a 30
replicate-token r8_ a 30
google-key AIza w 30
google-oauth-secret GOCSPX- w 20
google-bound-key AQ.Ab w 40
google-access-token ya29. w 20
firebase-server-key :APA91b w 100
bedrock-key ABSK b 100
bedrock-short-key bedrock-api-key- b 30
amazon-mws-token amzn.mws. i 36
alibaba-key LTAI a 16
tencent-key AKID a 32
volcengine-key AKLT a 40
baidu-key bce-v3/ALTAK- b 40
yandex-api-key AQVN w 35
yandex-oauth-token y0_ w 38
digitalocean-token dop_v1_|doo_v1_|dor_v1_ h 32
heroku-token HRKU- w 30
fly-token fm2_|fm1a_|fm1r_ b 60
fly-org-token fo1_ w 40
vercel-token vercel_|vcp_|vci_|vca_|vcr_|vck_ w 24
netlify-token nfp_|nfc_|nfo_|nfu_|nfb_ a 30
render-key rnd_ a 24
scaleway-key SCW u 17
cloudflare-origin-key v1.0- i 100
cloudflare-user-token cfut_|cfat_ a 40
supabase-token sbp_ h 40
supabase-secret-key sb_secret_ w 20
neon-key napi_ l 40
planetscale-token pscale_tkn_ d 32
planetscale-password pscale_pw_ d 32
planetscale-oauth pscale_oauth_ d 32
mongodb-service-secret mdb_sa_sk_ w 30
cockroach-key CCDB1_ w 40
xata-key xau_ a 30
databricks-token dapi h 32
elastic-key essu_ b 40
github-token ghp_|gho_|ghu_|ghs_|ghr_ a 20
github-fine-grained-token github_pat_ d 22
gitlab-token glpat- d 16
gitlab-deploy-token gldt- d 16
gitlab-runner-token glrt-|glrtr- d 20
gitlab-runner-registration GR1348941 w 20
gitlab-feed-token glft- w 20
gitlab-oauth-secret gloas- w 40
gitlab-job-token glcbt- w 20
gitlab-flag-token glffct- w 20
gitlab-mail-token glimt- w 20
gitlab-agent-token glagent- w 40
gitlab-trigger-token glptt- h 40
gitlab-scim-token glsoat- w 20
gitlab-workspace-token glwt- w 20
bitbucket-password ATBB a 28
bitbucket-token ATCTT3 b 50
atlassian-token ATATT3 b 50
atlassian-oauth-token ATOA a 50
trello-token ATTA h 60
npm-token npm_ a 30
pypi-token pypi- w 50
rubygems-key rubygems_ h 48
crates-token cio a 32
nuget-key oy2 l 43
clojars-token CLOJARS_ l 60
docker-token dckr_pat_|dckr_oat_ w 20
jfrog-key AKCp a 60
jfrog-reference-token cmVmdGtu a 50
sonar-token squ_|sqp_|sqa_ h 40
snyk-token snyk_uat.|snyk_sat. d 30
circleci-token CCIPAT_|CCIPRJ_ w 40
buildkite-token bkua_|bkaj_|bkct_ w 30
sourcegraph-token sgp_|sgd_|slk_ w 40
octopus-key API- u 26
prefect-token pnu_|pnb_ a 30
pulumi-token pul- h 40
infracost-token ico- a 32
scalingo-token tk-us- w 40
dbt-token dbtc_|dbtu_|dbts_ w 30
doppler-token dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit. d 30
vault-token hvs.|hvb.|hvr. w 20
onepassword-service-token ops_eyJ b 100
onepassword-secret-key A3- u&- 26
age-key AGE-SECRET-KEY-1 u 20
age-post-quantum-key AGE-SECRET-KEY-PQ-1 u 20
nostr-key nsec1 l 58
ory-token ory_st_|ory_pat_|ory_at_|ory_rt_ w 30
clerk-secret-key sk_live_|sk_test_ a 24
stytch-secret secret-live-|secret-test- b 30
authress-key authress_|scauth_ d 40
jumpcloud-key jca_ a 36
tailscale-key tskey- w 16
netbird-token nbp_ a 36
defined-networking-key dnkey- w 60
grafana-service-token glsa_ w 20
grafana-cloud-token glc_ b 32
grafana-api-key eyJrIjoi b 60
sentry-token sntrys_|sntryu_ b 30
newrelic-key NRAK-|NRII-|NRJS-|NRRA-|NRBR- w 18
honeycomb-key hcaik_|hcbik_|hcxik_ l 30
dynatrace-token dt0c01.|dt0s01.|dt0s16. d 60
posthog-key phx_|phs_ a 32
launchdarkly-key sdk-|mob-|api- i 36
statsig-secret secret- a 40
linear-key lin_api_ a 30
linear-oauth-token lin_oauth_ a 30
notion-token secret_ a 40
notion-integration-token ntn_ a 40
figma-token figd_|figdr_|figo_|figor_ w 30
postman-key PMAK- i 50
postman-collection-key PMAT- u 24
readme-key rdme_ l 60
contentful-token CFPAT- w 40
clickup-token pk_ u&_ 30
typeform-token tfp_ d 50
frameio-token fio-u- w 60
retool-token retool_ w 24
n8n-key n8n_api_ a 30
apify-token apify_api_ a 30
zuplo-key zpka_ w 30
unkey-key unkey_ w 16
trigger-key tr_dev_|tr_prod_|tr_stg_|tr_pat_ w 20
inngest-key signkey-prod-|signkey-test-|signkey-branch- h 40
liveblocks-key sk_prod_|sk_dev_ w 30
svix-key testsk_ d 30
tinybird-token p.eyJ d 60
hubspot-token pat-na1-|pat-na2-|pat-eu1-|pat-ap1- i 36
sendgrid-key SG. d 50
mailchimp-transactional-key md- w 22
mailgun-public-key pubkey- h 32
mailersend-token mlsn. h 60
resend-key re_ a&_ 30
brevo-key xkeysib-|xsmtpsib- w 70
onesignal-key os_v2_app_|os_v2_org_ l 50
pubnub-key sec-c-|sub-c-|pub-c- b 36
telnyx-key KEY01 u&_ 40
slack-token xoxa-|xoxb-|xoxc-|xoxd-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs- w 11
slack-rotating-token xoxe.xoxb-|xoxe.xoxp- w 40
slack-app-token xapp-1- w 11
facebook-token EAACEdEose0cBA|EAAC|EAAM|EAAG|EAAB a 80
instagram-token IGQV|IGAA w 80
stripe-key sk_live_|rk_live_|sk_test_|rk_test_|rk_prod_ a 10
webhook-secret whsec_ b 16
square-token sq0atp-|sq0csp-|sq0idp- w 20
paypal-token access_token$production$|access_token$sandbox$ a&$ 30
adyen-key AQE w 60
plaid-token access-sandbox-|access-development-|access-production- i 36
razorpay-key rzp_live_|rzp_test_ a 14
flutterwave-key FLWSECK-|FLWSECK_TEST-|FLWPUBK-|FLWPUBK_TEST- w 12
paddle-key pdl_live_apikey_|pdl_sdbx_apikey_ w 30
polar-token polar_oat_|polar_pat_ w 30
lob-key live_pub_|test_pub_ h 31
shippo-token shippo_live_|shippo_test_ H 40
easypost-key EZAK|EZTK a 50
duffel-token duffel_live_|duffel_test_ w 40
checkout-key sk_sbox_|sk_prod_cko_ l 26
woocommerce-key ck_|cs_ h 40
shopify-token shpat_|shpss_|shpca_|shppa_|shptka_ H 32
settlemint-token sm_aat_|sm_pat_|sm_sat_ a 16
mapbox-secret-token sk.eyJ d 60
intra42-secret s-s4t2ud-|s-s4t2af- h 60
adafruit-token aio_ a 28
wandb-token wandb_v1_ w 60
kaggle-token KGAT_ h 32
square-access-token EAAA w 60
adobe-secret p8e- w 32
openshift-token sha256~ w 43
wakatime-key waka_ i 36
chromatic-token chpt_ a 12
scrapfly-key scp-live-|scp-test- h 32
dropbox-token sl.B|sl.u. w 100
dropbox-short-lived-token sl. w 130
deno-token ddp_|ddo_ a 36
cal-key cal_live_ h 30
dub-key dub_ a 22
"""

# A name that speaks for itself is matched by it (`DATADOG_API_KEY=…`); these are for all else.
NAMED = """
adafruit-key adafruit w 32
adobe-client-id adobe h 32
airtable-key airtable a 17
algolia-key algolia h 32
alibaba-secret alibaba|aliyun a 30
amplitude-key amplitude h 32
asana-secret asana l 32
assemblyai-key assemblyai h 32
atlassian-legacy-token atlassian|jira|confluence a 24
auth0-secret auth0 w 64
azure-devops-token devops|vsts|visualstudio l 52
azure-cognitive-key azure|cognitive h 32
binance-key binance a 64
bitbucket-client-secret bitbucket w 32,64
bittrex-key bittrex h 32
box-secret boxapi|box_client a 32
browserstack-key browserstack a 20
bugsnag-key bugsnag h 32
censys-secret censys a 32
cloudsmith-key cloudsmith h 40
codecov-token codecov l 32
codecov-uuid-token codecov i 36
cohere-key cohere a 40
coinbase-key coinbase w 64
confluent-key confluent u 16
confluent-secret confluent b 64
contentful-delivery-token contentful w 43
cursor-key cursor h 64 key_|crsr_
customerio-key customer.io|customerio h 32
datadog-key datadog h 32
datadog-application-key datadog h 40
deepgram-key deepgram h 40
discord-secret discord w 32
discord-public-key discord h 64
droneci-token droneci l 32
dropbox-secret dropbox l 15
etherscan-key etherscan u 34
etsy-token etsy l 24
exa-key exa_api|exa.ai i 36
facebook-secret facebook h 32
fastly-token fastly w 32
finicity-token finicity h 32
finnhub-token finnhub l 20
flickr-key flickr h 32
freshbooks-token freshbooks l 64
freshdesk-key freshdesk a 20
gitea-token gitea|forgejo|codeberg h 40
gitter-token gitter h 40
gocardless-token gocardless w 45
godaddy-key godaddy w 37
hellosign-key hellosign h 64
hetzner-token hetzner|hcloud a 64
hubspot-key hubspot i 36
ibm-cloud-key ibm_cloud|ibmcloud|bluemix w 44
infura-key infura h 32
intercom-token intercom b 60
jfrog-token jfrog|artifactory a 64,73
kraken-secret kraken b 88
kucoin-key kucoin h 24
laravel-key app_key b 44 base64:
launchdarkly-token launchdarkly i 40
linear-client-secret linear_client h 32
linkedin-secret linkedin|linked_in a 16
linode-token linode h 64
looker-secret looker a 24
mailchimp-key mailchimp h 32
mattermost-token mattermost l 26
meraki-key meraki h 40
messagebird-key messagebird a 25
mistral-key mistral a 32
mixpanel-secret mixpanel h 32
modal-token modal a 22 as-|ak-
netlify-key netlify w 40,43,45
newsapi-key newsapi h 32
ngrok-token ngrok w 49
nytimes-key nytimes w 32
okta-token okta w 42
openweather-key openweather h 32
opsgenie-key opsgenie i 36
optimizely-token optimizely w 54
pagerduty-key pagerduty w 20
percy-token percy h 64
plaid-secret plaid h 30
plivo-token plivo w 40
postmark-token postmark i 36
privateai-key privateai|private_ai l 32
pusher-secret pusher h 20
railway-key railway i 36
rapidapi-key rapidapi w 50
rollbar-token rollbar h 32
sambanova-key sambanova i 36
saucelabs-key saucelabs|sauce_access i 36
sendbird-token sendbird h 40
sentry-legacy-token sentry h 64
serper-key serper h 40
shodan-key shodan a 32
snyk-key snyk i 36
sparkpost-key sparkpost h 40
splunk-token splunk i 36
spotify-secret spotify h 32
squarespace-token squarespace i 36
steam-key steam h 32
sumologic-secret sumologic|sumo_logic a 64
telegram-api-hash telegram h 32
tiingo-key tiingo h 40
travis-token travis w 22
twitch-token twitch l 30
twitter-key twitter a 25
twitter-secret twitter a 45,50
vault-legacy-token vault a 24 s.
virustotal-key virustotal h 64
vultr-key vultr u 36
wandb-key wandb h 40
yelp-key yelp w 128
zendesk-secret zendesk l 40
zerotier-token zerotier a 32
zoom-secret zoom_client|zoomus a 32
"""


def formats() -> list[Format]:
    """Every format of both tables, in their order."""
    return [
        *(_read(line, is_prefixed=True) for line in PREFIXED.split("\n") if line),
        *(_read(line, is_prefixed=False) for line in NAMED.split("\n") if line),
    ]


def _read(line: str, *, is_prefixed: bool) -> Format:
    name, marks, alphabet, lengths, *begins = line.split(" ")
    given = tuple(marks.split("|"))
    literals, words = (given, ()) if is_prefixed else ((), given)
    sizes = tuple(map(int, lengths.split(",")))
    beginnings = tuple(begins[0].split("|")) if begins else ("",)
    return Format(name, literals, words, alphabet, sizes, beginnings)


def characters(alphabet: str) -> str:
    """The class of characters of an alphabet; `u&-` is one and what else may stand among it."""
    letter, _, more = alphabet.partition("&")
    found = ALPHABETS[letter]
    return found if not more else f"{found[:-1]}\\{more}]"
