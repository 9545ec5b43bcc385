// Rows of the tables, and topics of the rules over several rows.
#include <algorithm>

#include "model_parts.hpp"

namespace hal::conformance {
namespace {

constexpr std::string_view letters = "SDAQ";

void take(Group& group, const TestResult& test, size_t index) {
    group.tests.push_back(index);
    group.counts.add(test.verdict());
    ++group.total;
    group.applicable += test.verdict() > Verdict::not_applicable ? 1 : 0;
    const char letter = letters[static_cast<size_t>(test.authority)];
    if (test.verdict() > Verdict::not_applicable && group.authorities.find(letter) == std::string::npos) {
        group.authorities += letter;
    }
}

// "SDA", whatever came first.
void finish(Group& group, const std::vector<TestResult>& tests) {
    std::sort(group.authorities.begin(), group.authorities.end(),
              [](char a, char b) { return letters.find(a) < letters.find(b); });
    if (group.tests.empty()) {
        group.verdict = Verdict::not_run;
        group.reason = group.left_out != 0 ? "left out by a filter" : "no case tests it";
        return;
    }
    bool any_bad = false;
    bool all_waived = true;
    group.verdict = Verdict::not_implemented;
    for (const size_t index : group.tests) {
        const TestResult& test = tests[index];
        group.verdict = worse(group.verdict, test.verdict());
        if (test.is_bad()) {
            any_bad = true;
            all_waived = all_waived && test.is_waived();
        }
    }
    group.waived = any_bad && all_waived;
}

// What the table itself says, whatever the cases found.
void judge_presence(Row& row, bool facts_known) {
    if (!facts_known) {
        return;
    }
    const auto fault = [&](Verdict verdict, const char* reason) {
        row.verdict = worse(row.verdict, verdict);
        row.reason = reason;
        row.waived = false;
    };
    if (row.present) {
        if (!row.claimed) {
            fault(Verdict::quality, "present, and the manifest does not claim it");
        }
    } else if (row.mandatory) {
        fault(Verdict::fail, "the standard makes it mandatory, and it is absent");
    } else if (row.claimed) {
        fault(Verdict::fail, "the manifest claims it, and it is absent");
    } else if (row.required) {
        fault(Verdict::fail, "the profile requires it, and it is absent");
    } else if (row.tests.empty()) {
        row.verdict = Verdict::not_implemented;
        row.reason = "absent";
    }
}

std::string topic_of(std::string_view id) {
    const auto part = [&](int dots) {
        size_t end = 0;
        for (int i = 0; i < dots; ++i) {
            end = std::min(id.find('.', end + (i == 0 ? 0 : 1)), id.size());
        }
        return std::string(id.substr(0, end));
    };
    return id.starts_with("45079.X.") ? part(3) : part(2);
}

Bilingual topic_title(std::string_view key) {
    struct Word {
        std::string_view key, en, zh;
    };
    static constexpr std::array words{
        Word{"45079.X.abi", "binary interface", "二进制接口"},
        Word{"45079.X.life", "life of instance and process", "实例与进程的生命周期"},
        Word{"45079.X.env", "the host's environment is left alone", "不改变宿主环境"},
        Word{"45079.X.thread", "threads", "线程"},
        Word{"45079.X.error", "errors and their texts", "错误与错误信息"},
        Word{"45079.X.loader", "the same plug-in through the loader", "经加载器使用同一插件"},
        Word{"45079.X.id", "identity", "身份信息"},
    };
    for (const Word& word : words) {
        if (word.key == key) {
            return {std::string(word.en), std::string(word.zh)};
        }
    }
    return {std::string(key), std::string(key)};
}

}  // namespace

std::string Group::text() const {
    std::string text(name(verdict));
    std::string more;
    if (applicable != 0 && applicable != total) {
        more = std::to_string(applicable) + " of " + std::to_string(total) + " applicable";
    } else if (applicable != 0) {
        more = std::to_string(total);
    }
    if (left_out != 0) {
        more += (more.empty() ? "" : "; ") + std::to_string(left_out) + " left out";
    }
    if (waived) {
        more += more.empty() ? "waived" : "; waived";
    }
    return more.empty() ? text : text + " (" + more + ")";
}

void add_rows(Model& model, const Catalogue& catalogue) {
    const Facts& facts = model.known_facts();
    const auto required = required_rows(*find_profile(model.begin.run.profile), facts);
    for (const EntryInfo& entry : entries) {
        Row row;
        row.entry = &entry;
        row.mandatory = mandatory(entry, facts);
        row.required = std::find(required.begin(), required.end(), &entry) != required.end();
        row.claimed = claimed(entry, facts);
        row.present = present(entry, facts);
        model.rows.push_back(std::move(row));
    }
    std::map<std::string, Topic> topics;
    const auto group_of = [&](const EntryInfo* entry, std::string_view id) -> Group& {
        return entry != nullptr ? static_cast<Group&>(model.rows[static_cast<size_t>(entry - entries.data())])
                                : topics[topic_of(id)];
    };
    for (size_t i = 0; i < model.tests.size(); ++i) {
        take(group_of(model.tests[i].entry, model.tests[i].id), model.tests[i], i);
    }
    for (const Instance& instance : catalogue.instances) {
        const auto place = std::lower_bound(model.tests.begin(), model.tests.end(), instance.id,
                                            [](const TestResult& test, const std::string& id) { return test.id < id; });
        if ((place == model.tests.end() || place->id != instance.id) && !is_figure(instance.id)) {
            ++group_of(row_of(instance.id), instance.id).left_out;
        }
    }
    for (Row& row : model.rows) {
        finish(row, model.tests);
        judge_presence(row, model.facts.has_value());
    }
    for (auto& [key, topic] : topics) {
        finish(topic, model.tests);
        topic.key = key;
        topic.title = topic_title(key);
        model.topics.push_back(std::move(topic));
    }
}

void add_totals(Model& model) {
    for (const TestResult& test : model.tests) {
        const auto place = static_cast<size_t>(test.authority);
        Totals& totals = model.totals;
        totals.all.add(test.verdict());
        if (test.entry == nullptr) {
            totals.general[place].add(test.verdict());
            continue;
        }
        const Row& row = model.rows[static_cast<size_t>(test.entry - entries.data())];
        (row.mandatory ? totals.mandatory : totals.optional)[place].add(test.verdict());
        if (row.required) {
            totals.profile[place].add(test.verdict());
        }
    }
    for (const Row& row : model.rows) {
        model.totals.left_out += row.left_out;
    }
    for (const Topic& topic : model.topics) {
        model.totals.left_out += topic.left_out;
    }
}

}  // namespace hal::conformance
